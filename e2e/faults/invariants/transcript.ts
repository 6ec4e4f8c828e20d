import type { Evidence, Invariant } from "../world/evidence.ts";

/** I1: a session has exactly one first turn, even if its creation was interrupted or repeated. */
export const oneFirstTurn: Invariant = {
  id: "I1",
  promise: "one first turn per session",
  findViolations({ rows, acknowledged }) {
    const wrong: string[] = [];
    for (const session of rows.sessions) {
      const firsts = rows.requests.filter((one) => one.sessionId === session.id && one.position === 1);
      const runs = rows.runs.filter((run) => run.requestId === firsts[0]?.id && run.attempt === 1);
      if (firsts.length !== 1 || runs.length !== 1)
        wrong.push(`${session.id} has ${firsts.length} first requests and ${runs.length} first runs`);
      const starts = rows.events.filter(
        (event) => event.kind === "run.started" && event.runId === runs[0]?.id,
      );
      if (starts.length !== 1) wrong.push(`the first turn of ${session.id} started ${starts.length} times`);
    }
    const keys = Map.groupBy(
      rows.sessions.filter((session) => session.idempotencyKey !== null),
      (session) => `${session.ownerId} ${session.idempotencyKey}`,
    );
    for (const [key, sessions] of keys)
      if (sessions.length > 1) wrong.push(`the key ${key} created ${sessions.length} sessions`);
    for (const { sessionId } of acknowledged)
      if (!rows.sessions.some((session) => session.id === sessionId)) wrong.push(`${sessionId} was lost`);
    return wrong;
  },
};

/** I2: every message that the service answered with a 2xx is in the transcript exactly once. */
export const acknowledgedOnce: Invariant = {
  id: "I2",
  promise: "every acknowledged message is in the transcript exactly once",
  findViolations({ rows, acknowledged }) {
    const wrong: string[] = [];
    for (const nonce of new Set(acknowledged.map((message) => message.nonce))) {
      const hasNonce = (parts: unknown) => JSON.stringify(parts).includes(`n=${nonce}>>`);
      const placed = rows.messages.filter(
        ({ role, seq, parts }) => role === "user" && seq !== null && hasNonce(parts),
      );
      if (placed.length !== 1)
        wrong.push(
          `message ${nonce} is in the transcript ${placed.length} times${describeLoss(rows, acknowledged, nonce)}`,
        );
      const events = rows.events.filter(({ kind, body }) => kind === "message.completed" && hasNonce(body));
      if (events.length !== 1) wrong.push(`message ${nonce} has ${events.length} events`);
      const [message] = placed;
      const answer = acknowledged.find((one) => one.nonce === nonce);
      if (message && answer && message.requestId !== answer.requestId)
        wrong.push(
          `message ${nonce} was acknowledged as ${answer.requestId} and is stored under ${message.requestId}`,
        );
    }
    return [...wrong, ...findGaps(rows)];
  },
};

/** Describes a message for an error text: its mode, and the states of the runs of its request. */
function describeLoss(rows: Evidence["rows"], acknowledged: Evidence["acknowledged"], nonce: string): string {
  const message = acknowledged.find((one) => one.nonce === nonce);
  const runs = rows.runs.filter((run) => run.requestId === message?.requestId);
  const ends = runs.map(({ state, startedAt }) => (startedAt ? state : `${state} before it started`));
  return ` (${message?.mode}; its runs: ${ends.join(", ") || "none"})`;
}

/** Finds sessions with a gap in the sequence numbers of their messages. */
function findGaps(rows: Evidence["rows"]): string[] {
  return rows.sessions.flatMap((session) => {
    const numbers = rows.messages
      .filter((message) => message.sessionId === session.id && message.seq !== null)
      .map((message) => message.seq ?? 0)
      .sort((a, b) => a - b);
    return numbers.every((number, index) => number === index + 1)
      ? []
      : [`the transcript of ${session.id} has the sequence numbers ${numbers.join(", ")}`];
  });
}
