import type { Evidence, Invariant } from "../world/evidence.ts";

/** I3: every run ends once, and the sequence numbers of the event log have no gap. */
export const oneEndPerRun: Invariant = {
  id: "I3",
  promise: "one terminal event per run, sequence gapless",
  findViolations({ rows }) {
    const wrong: string[] = [];
    for (const run of rows.runs) {
      const own = rows.events.filter((event) => event.runId === run.id);
      const ends = own.filter((event) => event.kind === "run.completed");
      if (run.state === "pending" || run.state === "running") wrong.push(`${run.id} is still ${run.state}`);
      else if (ends.length !== 1) wrong.push(`${run.id} (${run.state}) has ${ends.length} terminal events`);
      else if (JSON.parse(ends[0]?.body ?? "{}").outcome !== run.state)
        wrong.push(`${run.id} is ${run.state}, and its event says otherwise`);
      if (ends[0] && own.some((event) => event.seq > (ends[0]?.seq ?? 0)))
        wrong.push(`${run.id} has events after its end`);
      if (run.startedAt && own.filter((event) => event.kind === "run.started").length !== 1)
        wrong.push(`${run.id} does not start exactly once`);
    }
    for (const session of rows.sessions) {
      const own = rows.events.filter((event) => event.sessionId === session.id);
      if (own.some((event, index) => event.seq !== index + 1) || own.length !== session.eventSeq)
        wrong.push(`the log of ${session.id} has ${own.length} events and counts to ${session.eventSeq}`);
      if (session.activeRunId !== null) wrong.push(`${session.id} is still held by ${session.activeRunId}`);
    }
    return wrong;
  },
};

/**
 * I8: the agent status is never `idle` between the acceptance of a message and the end of the last run that answers it.
 */
export const readsRunning: Invariant = {
  id: "I8",
  promise: "a scheduled resume reads running",
  findViolations({ rows, acknowledged, samples }) {
    return samples.flatMap((sample) => {
      if (sample.turnState !== "idle") return [];
      const open = acknowledged.find(({ sessionId, requestId, atMs }) => {
        if (sessionId !== sample.sessionId || atMs > sample.fromMs) return false;
        const answering = findAnswering(rows, requestId);
        const ends = rows.runs
          .filter((run) => run.requestId === answering)
          .map((run) => run.endedAt?.getTime() ?? 0);
        return Math.max(...ends) > sample.toMs;
      });
      return open
        ? [
            `${sample.sessionId} read idle at ${new Date(sample.toMs).toISOString()} while ${open.requestId} was open`,
          ]
        : [];
    });
  },
};

/**
 * Returns the id of the request whose runs answer this request. For a steer that a turn has read, returns the turn's
 * request; otherwise the request itself.
 */
function findAnswering(rows: Evidence["rows"], requestId: string): string {
  if (rows.runs.some((run) => run.requestId === requestId)) return requestId;
  const joined = rows.requests.find((request) => request.id === requestId)?.joinedRunId;
  return rows.runs.find((run) => run.id === joined)?.requestId ?? requestId;
}

/**
 * I10: the stream of a request, read from any position, sends exactly the bytes of the request's events in the log
 * after that position.
 */
export const streamsEqualLog: Invariant = {
  id: "I10",
  promise: "a resumed stream is byte-equal to the log",
  findViolations({ rows, streams }) {
    return streams.flatMap(({ sessionId, requestId, after, text }) => {
      const request = rows.requests.find((one) => one.id === requestId);
      const joined = rows.runs.find((run) => run.id === request?.joinedRunId);
      const from = Math.max(after, request?.joinedAfterSeq ?? 0);
      const expected = rows.events
        .filter((event) => event.sessionId === sessionId && event.seq > from)
        .filter((event) => event.requestId === requestId || event.requestId === joined?.requestId)
        .map((event) => `id: ${event.seq}\nevent: ${event.kind}\ndata: ${event.body}\n\n`)
        .join("");
      const stored = text
        .split(/(?<=\n\n)/)
        .filter((block) => block.startsWith("id: "))
        .join("");
      return stored === expected ? [] : [`the stream of ${requestId} after ${after} differs from the log`];
    });
  },
};
