import { z } from "zod";
import { AGENT_BROWSERS } from "#db/schema/unions.ts";
import { defineTool, errorResult, jsonResult } from "#lib/tools/tool.ts";
import { findSessionOwner } from "../agent-store.ts";
import type { AgentsDeps } from "../agents-deps.ts";
import { spawnAgents } from "../spawn-agents.ts";

const httpUrl = z
  .string()
  .max(8_192)
  .refine((text) => ["http:", "https:"].includes(URL.parse(text)?.protocol ?? ""), {
    error: "must be an http or https URL",
  });

const newAgent = z.object({
  name: z
    .string()
    .regex(/^[a-z0-9-]{1,32}$/, { error: "must be 1 to 32 of a-z, 0-9 and -" })
    .optional()
    .describe("a short name, unique in the whole tree: a-z, 0-9 and -"),
  objective: z
    .string()
    .trim()
    .min(1)
    .max(20_000)
    .describe("the task, complete in itself: the sub-agent sees nothing of this conversation"),
  context: z.string().max(50_000).optional().describe("what it has to know for the task"),
  browser: z
    .enum(AGENT_BROWSERS)
    .default("none")
    .describe("own: a browser of its own. shared: your page, one call at a time. none: no browser tools"),
  url: httpUrl.optional().describe("the page it begins on; by default the page that your browser shows"),
  resultSchema: z
    .looseObject({})
    .optional()
    .describe("JSON Schema (an object at the root) that its result has to fit"),
});

/** `spawn_agents`: delegates tasks to new sub-agents. Spawns all of them or none. */
export const spawnAgentsTool = (deps: AgentsDeps) =>
  defineTool({
    name: "spawn_agents",
    description:
      "Delegates tasks to sub-agents that work side by side, each with its own context. Returns at once; call wait_for_agents for their results.",
    input: z.object({ agents: z.array(newAgent).min(1).max(10) }),
    // A repeated call returns the sub-agents that its first attempt spawned.
    idempotent: true,
    readOnly: false,
    changes: false,
    async execute({ agents }, { sessionId, requestId, runId, callId }) {
      if (requestId === null || runId === null) return errorResult("spawn_agents works in a turn only.");
      const ownerId = await findSessionOwner(deps.db, sessionId);
      for (const [index, { resultSchema }] of agents.entries()) {
        if (!resultSchema) continue;
        const admitted = await deps.schemas.admitSchema(resultSchema, ownerId);
        if (!admitted.ok)
          return errorResult(
            `spawn_agents: agents[${index}].resultSchema: ${admitted.error.replace(/^outputSchema: /, "")}`,
          );
      }
      const spawned = await spawnAgents(deps, { sessionId, requestId, runId, callId }, agents);
      if (!spawned.ok) return errorResult(spawned.error);
      return jsonResult(
        spawned.agents.map((agent) => ({
          agentId: agent.sessionId,
          name: agent.name,
          statusUrl: `/api/sessions/${agent.sessionId}/requests/${agent.requestId}`,
        })),
      );
    },
  });
