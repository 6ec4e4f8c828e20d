import type { Invariant } from "../evidence.ts";

/** The sweep comes every minute. */
const SWEPT_WITHIN_MS = 90_000;

/** I3: a run ends once, and the log has no hole. */
export const oneEndPerRun: Invariant = {
  id: "I3",
  promise: "one terminal event per run, sequence gapless",
  findViolations({ rows, disturbedAtMs }) {
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
    for (const job of rows.outbox)
      if (job.sentAt === null && Date.now() - job.createdAt.getTime() > SWEPT_WITHIN_MS)
        wrong.push(`job ${job.id} was never sent`);
    // What a killed process played is another one's only when its lease has run out, which nobody has to wait for.
    for (const run of disturbedAtMs.length > 0 ? [] : rows.engineRuns)
      if (run.endedAt === null && /run-turn|deliver-callback/.test(run.functionId))
        wrong.push(`the engine still plays ${run.functionId} of ${run.eventId}`);
    return wrong;
  },
};

/** I8: from the moment a message is accepted until the last run of its request has ended, the turn is running. */
export const readsRunning: Invariant = {
  id: "I8",
  promise: "a scheduled resume reads running",
  findViolations({ rows, acknowledged, samples }) {
    return samples.flatMap((sample) => {
      if (sample.turnState !== "idle") return [];
      const open = acknowledged.find(({ sessionId, requestId, atMs }) => {
        if (sessionId !== sample.sessionId || atMs > sample.fromMs) return false;
        const ends = rows.runs
          .filter((run) => run.requestId === requestId)
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

/** I10: whoever reads a stream, from wherever, gets the log's own bytes. */
export const streamsEqualLog: Invariant = {
  id: "I10",
  promise: "a resumed stream is byte-equal to the log",
  findViolations({ rows, streams }) {
    return streams.flatMap(({ sessionId, requestId, after, text }) => {
      const expected = rows.events
        .filter(
          (event) => event.sessionId === sessionId && event.requestId === requestId && event.seq > after,
        )
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
