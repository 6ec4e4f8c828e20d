import type { Invariant } from "../world/evidence.ts";

/**
 * Finds parked (waiting) turns that were not woken exactly once, questions that are still open, and acknowledged
 * answers that the model did not see.
 */
export const wakesOnce: Invariant = {
  id: "wakes",
  promise: "a parked turn is woken exactly once, and no acknowledged answer is lost",
  findViolations({ rows, acknowledgedAnswers }) {
    const wrong: string[] = [];
    for (const run of rows.runs) {
      if (run.parkedAt !== null) wrong.push(`${run.id} is still parked`);
      const order = rows.events
        .filter(({ runId, kind }) => runId === run.id && (kind === "turn.waiting" || kind === "turn.resumed"))
        .map(({ kind }) => kind);
      const isInTurn = order.every(
        (kind, index) => kind === (index % 2 === 0 ? "turn.waiting" : "turn.resumed"),
      );
      if (!isInTurn || order.length % 2 !== 0)
        wrong.push(`the waits and wakes of ${run.id} do not alternate: ${order.join(", ")}`);
    }
    for (const { id, runId, state } of rows.elicitations)
      if (state === "open") wrong.push(`question ${id} of ${runId} is still open`);
    for (const { elicitationId, text } of acknowledgedAnswers) {
      const question = rows.elicitations.find(({ id }) => id === elicitationId);
      if (question?.state !== "answered" || question.answer !== text) {
        wrong.push(`question ${elicitationId} lost the answer "${text}": it is ${question?.state}`);
        continue;
      }
      const call = rows.toolCalls.find(
        (each) => each.runId === question.runId && each.callId === question.callId,
      );
      const run = rows.runs.find(({ id }) => id === question.runId);
      // Only a run that succeeded is checked. If a run was stopped while it waited, no model call could contain the
      // answer. What a tool server says of the answer to its own question is up to the server.
      const isOfServer = call?.name.startsWith("mcp_") ?? false;
      if (run?.state === "succeeded" && !isOfServer && !call?.resultText?.includes(text))
        wrong.push(`the model was shown "${call?.resultText}" instead of the answer "${text}"`);
    }
    return wrong;
  },
};
