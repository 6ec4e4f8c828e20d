import { repeatOnDeadlock } from "#db/repeat-on-deadlock.ts";
import type { ElicitationAnswer } from "#db/schema/index.ts";
import type { InboxSettler } from "#db/schema/unions.ts";
import { storable } from "#db/storable.ts";
import { checkAnswer } from "#lib/events/form-answer.ts";
import {
  acceptsAnswers,
  askingCallOf,
  closeElicitation,
  type ElicitationRow,
  findElicitation,
  readEventContext,
} from "../store/elicitation-store.ts";
import { findRun } from "../store/run-store.ts";
import { lockSession } from "../store/session-store.ts";
import { endWaits, sendWake, type WakeDeps } from "../waiting/waiting.ts";

type AnswerResult =
  | { status: "accepted" }
  /** The session has no such question. */
  | { status: "unknown" }
  /** The question is no longer open, its deadline has passed, or its run no longer reads answers. */
  | { status: "settled" }
  /**
   * The answer is invalid, and the question remains open. `path` names the invalid field; empty for the whole answer.
   */
  | { status: "invalid"; path: string[]; problem: string };

/**
 * Answers or declines an open question and wakes the turn that waits for the answer, in one transaction.
 * Source: `architecture.md`, Turns that wait.
 *
 * @param answer null declines the question.
 * @param settledBy who answers, as the item of the inbox says.
 */
export async function answerElicitation(
  deps: WakeDeps,
  { sessionId, elicitationId }: { sessionId: string; elicitationId: string },
  answer: string | Record<string, unknown> | null,
  settledBy: InboxSettler,
): Promise<AnswerResult> {
  const row = await findElicitation(deps.db, sessionId, elicitationId);
  if (!row) return { status: "unknown" };
  if (row.state !== "open" || row.expiresAt <= new Date()) return { status: "settled" };
  const [flaw] = answer === null ? [] : findFlaws(row, answer);
  if (flaw) return { status: "invalid", ...flaw };
  const end =
    answer === null
      ? ({ state: "declined", answer } as const)
      : // The cast is safe: `findFlaws` has checked the values of a form.
        ({ state: "answered", answer: storable(answer) as ElicitationAnswer } as const);
  const asking = { runId: row.runId, callId: askingCallOf(row) };
  const { isSettled, jobs } = await repeatOnDeadlock(() =>
    deps.log.transact(sessionId, async (tx, emit) => {
      await lockSession(tx, sessionId);
      const run = await findRun(tx, row.runId);
      if (!run || !acceptsAnswers(run) || !(await closeElicitation(tx, row.id, end, settledBy)))
        return { isSettled: false, jobs: [] };
      const about = await readEventContext(tx, row.runId);
      emit({ kind: "elicitation.resolved", ...about, elicitationId: row.id, ...end });
      return { isSettled: true, jobs: await endWaits(tx, emit, asking, "settled") };
    }),
  );
  await sendWake(deps, jobs);
  return { status: isSettled ? "accepted" : "settled" };
}

function findFlaws(
  { form }: ElicitationRow,
  answer: string | Record<string, unknown>,
): { path: string[]; problem: string }[] {
  if (form === null)
    return typeof answer === "string"
      ? []
      : [{ path: [], problem: "must be text, because the question has no form" }];
  if (typeof answer !== "string")
    return checkAnswer(form, answer).map(({ field, problem }) => ({ path: [field], problem }));
  const fields = Object.keys(form.properties).join(", ");
  return [{ path: [], problem: `must be an object with the fields of the form: ${fields}` }];
}
