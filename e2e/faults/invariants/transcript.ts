import type { Evidence, Invariant } from "../world/evidence.ts";

/** I1: a session begins once, whatever happened while it was made. */
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
      if (sessions.length > 1) wrong.push(`the key ${key} made ${sessions.length} sessions`);
    for (const { sessionId } of acknowledged)
      if (!rows.sessions.some((session) => session.id === sessionId)) wrong.push(`${sessionId} was lost`);
    return wrong;
  },
};

/** I2: what was answered with a 2xx is in the transcript, once. */
export const acknowledgedOnce: Invariant = {
  id: "I2",
  promise: "every acknowledged message stands in the transcript exactly once",
  findViolations({ rows, acknowledged }) {
    const wrong: string[] = [];
    for (const nonce of new Set(acknowledged.map((message) => message.nonce))) {
      const isIt = (parts: unknown) => JSON.stringify(parts).includes(`n=${nonce}>>`);
      const placed = rows.messages.filter(
        ({ role, seq, parts }) => role === "user" && seq !== null && isIt(parts),
      );
      if (placed.length !== 1)
        wrong.push(
          `message ${nonce} stands in the transcript ${placed.length} times${describeLoss(rows, acknowledged, nonce)}`,
        );
      const told = rows.events.filter((event) => event.kind === "message.completed" && isIt(event.body));
      if (told.length !== 1) wrong.push(`message ${nonce} is told by ${told.length} events`);
      const [message] = placed;
      const asked = acknowledged.find((one) => one.nonce === nonce);
      if (message && asked && message.requestId !== asked.requestId)
        wrong.push(
          `message ${nonce} was acknowledged as ${asked.requestId} and stands under ${message.requestId}`,
        );
    }
    return [...wrong, ...findGaps(rows)];
  },
};

/** How a message was sent, and what became of its request's runs. */
function describeLoss(rows: Evidence["rows"], acknowledged: Evidence["acknowledged"], nonce: string): string {
  const asked = acknowledged.find((one) => one.nonce === nonce);
  const runs = rows.runs.filter((run) => run.requestId === asked?.requestId);
  const ends = runs.map(({ state, startedAt }) => (startedAt ? state : `${state} before it started`));
  return ` (${asked?.mode}; its runs: ${ends.join(", ") || "none"})`;
}

/** Places in the transcript rise without gaps, as the sequence of a session's messages is one list. */
function findGaps(rows: Evidence["rows"]): string[] {
  return rows.sessions.flatMap((session) => {
    const places = rows.messages
      .filter((message) => message.sessionId === session.id && message.seq !== null)
      .map((message) => message.seq ?? 0)
      .sort((a, b) => a - b);
    return places.every((place, index) => place === index + 1)
      ? []
      : [`the transcript of ${session.id} has the places ${places.join(", ")}`];
  });
}
