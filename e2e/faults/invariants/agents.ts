import type { Invariant } from "../world/evidence.ts";

/**
 * Finds sub-agents that were not spawned exactly once or have not ended exactly once, and tasks that were delegated
 * twice. Of the sub-agents that succeeded, finds those that ended after their parent's turn or whose result was lost.
 */
export const agentsOnce: Invariant = {
  id: "agents",
  promise: "a sub-agent is spawned once, ends once, and its parent's turn ends after it",
  findViolations({ rows }) {
    const wrong: string[] = [];
    for (const agent of rows.agents) {
      const { sessionId, parentSessionId, outcome } = agent;
      const findParentEvents = (kind: string) =>
        rows.events.filter(
          (event) =>
            event.sessionId === parentSessionId &&
            event.kind === kind &&
            JSON.parse(event.body).agentId === sessionId,
        );
      if (outcome === null) wrong.push(`${sessionId} is still live`);
      const [spawned, settled] = [findParentEvents("agent.spawned"), findParentEvents("agent.settled")];
      if (spawned.length !== 1) wrong.push(`${sessionId} was spawned ${spawned.length} times`);
      if (settled.length !== 1) wrong.push(`${sessionId} ended ${settled.length} times`);
      const end = rows.events.find(
        ({ kind, runId }) => kind === "run.completed" && runId === agent.spawnRunId,
      );
      if (end && settled[0] && end.seq < settled[0].seq && outcome === "succeeded")
        wrong.push(`${agent.spawnRunId} ended before ${sessionId}`);
      if (outcome === "succeeded" && !agent.isSubmitted) wrong.push(`the result of ${sessionId} was lost`);
    }
    const names = rows.agents.map(({ rootSessionId, objective }) => `${rootSessionId} ${objective}`);
    if (new Set(names).size !== names.length) wrong.push("a task was delegated twice");
    return wrong;
  },
};
