import { z } from "zod";
import { defineTool, errorResult, jsonResult } from "#lib/tools/tool.ts";
import { findAgent, isBelow, listBelow, listLastSteps, markReported } from "../agent-store.ts";
import type { AgentsDeps } from "../agents-deps.ts";
import { cancelAgent } from "../cancel-agents.ts";
import { messageAgent } from "../message-agent.ts";
import { reportAgent } from "../wait-for-agents.ts";

const agentId = z.string().min(1).max(100);

/** `message_agent`: sends a message to a running sub-agent, or starts a new turn of an ended one. */
export const messageAgentTool = (deps: AgentsDeps) =>
  defineTool({
    name: "message_agent",
    description:
      "Sends a message to a sub-agent. One that works reads it between two steps; one that has ended begins a new turn with it.",
    input: z.object({ agentId, text: z.string().trim().min(1).max(20_000) }),
    idempotent: true,
    readOnly: false,
    changes: false,
    async execute({ agentId: id, text }, { sessionId, runId, callId }) {
      if (runId === null) return errorResult("message_agent works in a turn only.");
      const sent = await messageAgent(deps, { sessionId, runId, callId }, { agentId: id, text });
      return sent.ok
        ? "Sent. A sub-agent that works reads it between two of its steps; one that had ended has a new turn: wait for it again."
        : errorResult(sent.error);
    },
  });

/** `list_agents`: lists all sub-agents below the session. */
export const listAgentsTool = ({ db }: Pick<AgentsDeps, "db">) =>
  defineTool({
    name: "list_agents",
    description: "Lists your sub-agents and theirs: status, last step, progress, usage. Does not wait.",
    input: z.object({}),
    idempotent: true,
    readOnly: true,
    changes: false,
    async execute(_input, { sessionId }) {
      const below = await listBelow(db, sessionId);
      const steps = await listLastSteps(
        db,
        below.map((row) => row.sessionId),
      );
      return jsonResult(
        below.map((row) => {
          const { result: _result, ...report } = reportAgent(row);
          return {
            ...report,
            parentId: row.parentSessionId,
            depth: row.depth,
            browser: row.browser,
            ...(row.progress !== null && { progress: row.progress }),
            lastStep: steps.get(row.sessionId) ?? "has not begun",
          };
        }),
      );
    },
  });

/** `cancel_agent`: stops a sub-agent and all sub-agents below it. */
export const cancelAgentTool = (deps: AgentsDeps) =>
  defineTool({
    name: "cancel_agent",
    description: "Stops a sub-agent and everything below it.",
    input: z.object({ agentId }),
    idempotent: true,
    readOnly: false,
    changes: false,
    async execute({ agentId: id }, { sessionId, runId, callId }) {
      const found = (await isBelow(deps.db, sessionId, id)) ? await findAgent(deps.db, id) : undefined;
      if (!found) return errorResult(`cancel_agent: you have no sub-agent ${id}.`);
      if (found.outcome !== null) return `${found.name} has ended already: ${found.outcome}.`;
      const ended = await cancelAgent(deps, id);
      if (ended?.outcome && ended.parentSessionId === sessionId)
        await markReported(deps.db, [id], `${runId}/${callId}`);
      return ended?.outcome
        ? `${found.name} is stopped, with everything below it.`
        : `${found.name} is being stopped.`;
    },
  });
