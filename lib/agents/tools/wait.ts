import { z } from "zod";
import { defineTool, errorResult, jsonResult, waitFor } from "#lib/tools/tool.ts";
import type { AgentsDeps } from "../agents-deps.ts";
import { checkAgentWait } from "../wait-for-agents.ts";

const WEEK_S = 7 * 86_400;

/** `wait_for_agents`: pauses the turn until sub-agents have ended. */
export const waitForAgentsTool = (deps: Pick<AgentsDeps, "db">) =>
  defineTool({
    name: "wait_for_agents",
    description:
      "Waits for sub-agents and returns their results. By default it waits for all that are live, and also returns those that ended since you last looked.",
    input: z.object({
      agentIds: z.array(z.string()).min(1).max(100).optional().describe("by default all"),
      until: z.enum(["all", "any"]).default("all").describe("any: until one of them has ended"),
      timeoutSeconds: z
        .int()
        .min(1)
        .max(WEEK_S)
        .optional()
        .describe(
          "return after this time also without results, up to 10 s late; by default the wait has no end",
        ),
    }),
    idempotent: true,
    readOnly: false,
    changes: false,
    async execute({ agentIds, until, timeoutSeconds }, call) {
      const state = await checkAgentWait(deps, call.sessionId, {
        agentIds: agentIds ?? call.waitedFor,
        until,
        reader: `${call.runId}/${call.callId}`,
        isLast: call.waitEndedBy !== undefined,
      });
      switch (state.kind) {
        case "unknown":
          return errorResult(`wait_for_agents: you have no sub-agent ${state.agentId}.`);
        case "waiting":
          return waitFor({
            kind: "agents",
            subjects: state.agentIds,
            until,
            deadlineAt: timeoutSeconds === undefined ? null : new Date(Date.now() + timeoutSeconds * 1_000),
          });
        case "over":
          return call.waitEndedBy === "message"
            ? `${JSON.stringify(state.reports)}\n\nThe wait was interrupted by a message.`
            : jsonResult(state.reports);
      }
    },
  });
