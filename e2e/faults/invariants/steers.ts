import type { Invariant } from "../world/evidence.ts";

/** I2 for steers: either the turn that a steer joined reads the steer, or the steer gets its own turn. */
export const steersReadOnce: Invariant = {
  id: "I2",
  promise: "a steer is read exactly once",
  findViolations({ rows, traffic, acknowledged }) {
    const runs = new Map(rows.runs.map((run) => [run.id, run]));
    const nonces = new Map(acknowledged.map((one) => [one.requestId, one.nonce]));
    return rows.requests.flatMap((request) => {
      const own = rows.runs.filter((run) => run.requestId === request.id);
      const reads = rows.events.filter(
        (event) => event.kind === "turn.steered" && JSON.parse(event.body).steerRequestId === request.id,
      );
      const joined = request.joinedRunId === null ? undefined : runs.get(request.joinedRunId);
      const wrong: string[] = [];
      if (!joined && (own.length === 0 || reads.length > 0))
        wrong.push(`${request.id} joined no turn, has ${own.length} runs and was read ${reads.length} times`);
      if (joined && reads.length !== (own.length > 0 ? 0 : 1))
        wrong.push(`steer ${request.id} was read ${reads.length} times and has ${own.length} runs`);
      for (const { requestId, runId } of reads) {
        if (joined && requestId !== joined.requestId)
          wrong.push(`steer ${request.id} was read by ${requestId}, and joined ${joined.requestId}`);
        const nonce = nonces.get(request.id);
        const isShown = traffic.some(
          (line) => line.type === "model" && !line.isSummary && line.tags.includes(nonce ?? ""),
        );
        if (nonce !== undefined && runs.get(runId ?? "")?.state === "succeeded" && !isShown)
          wrong.push(`steer ${request.id} was not shown to the model`);
      }
      return wrong;
    });
  },
};
