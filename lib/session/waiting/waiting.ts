import type { Database, Transaction } from "#db/client.ts";
import { repeatOnDeadlock } from "#db/repeat-on-deadlock.ts";
import type { WaitEnd } from "#db/schema/unions.ts";
import type { Emit, EventLog } from "#lib/events/event-log.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import type { Logger } from "#lib/log/logger.ts";
import { readEventContext, settleQuestionsOf } from "../elicitation/elicitation-store.ts";
import type { JobSender } from "../jobs/job-sender.ts";
import { type Job, requestRun } from "../jobs/jobs.ts";
import { lockSession } from "../session-store.ts";
import { endWaitRows, listControlWaits, listOverdueWaits } from "./wait-store.ts";

/** What is needed to wake parked runs. */
export type WakeDeps = { db: Database; log: EventLog; jobs: Pick<JobSender, "sendSoon"> };

/**
 * Ends a wait of a run in the caller's transaction, or all of its waits where no call is given, and wakes the run if it is
 * parked. Questions that are still open are settled with it. The caller has locked the session, so that nobody parks the run
 * meanwhile. Source: `architecture.md`, Turns that wait.
 *
 * @returns the job that plays the run on, in the outbox already: {@link sendWake} sends it after the commit.
 */
export async function endWaits(
  tx: Transaction,
  emit: Emit,
  { runId, callId = null }: { runId: string; callId?: string | null },
  endedBy: WaitEnd,
): Promise<Job | undefined> {
  await settleQuestions(tx, emit, { runId, callId }, endedBy);
  const woken = await endWaitRows(tx, runId, endedBy, callId);
  if (!woken) return undefined;
  const { requestId, sessionId, generation, source } = woken;
  emit({ kind: "turn.resumed", requestId, runId, source, reason: endedBy });
  return requestRun({ id: runId, sessionId, generation });
}

async function settleQuestions(
  tx: Transaction,
  emit: Emit,
  { runId, callId }: { runId: string; callId: string | null },
  endedBy: WaitEnd,
): Promise<void> {
  if (endedBy === "settled") return;
  const state = endedBy === "deadline" ? "unanswered" : "withdrawn";
  const ids = await settleQuestionsOf(tx, runId, state, callId);
  if (ids.length === 0) return;
  const about = await readEventContext(tx, runId);
  for (const elicitationId of ids)
    emit({ kind: "elicitation.resolved", ...about, elicitationId, state, answer: null });
}

/** Sends the job of a run that was woken, once that is committed. */
export async function sendWake(deps: Pick<WakeDeps, "jobs">, job: Job | undefined): Promise<void> {
  if (!job) return;
  await faultPoint("wake-committed");
  deps.jobs.sendSoon([job]);
}

/** Ends waits of a run in a transaction of its own. @returns the job that plays it on, not sent yet. */
export function wakeRun(
  deps: Pick<WakeDeps, "log">,
  { sessionId, ...wait }: { sessionId: string; runId: string; callId?: string },
  endedBy: WaitEnd,
): Promise<Job | undefined> {
  return repeatOnDeadlock(() =>
    deps.log.transact(sessionId, async (tx, emit) => {
      await lockSession(tx, sessionId);
      return endWaits(tx, emit, wait, endedBy);
    }),
  );
}

const OVERDUE_AT_ONCE = 100;

/**
 * Ends the waits whose deadline has passed. A failure is logged, and the other waits are still ended.
 *
 * @param now a time that a test sets.
 * @returns how many runs were woken.
 */
export async function endOverdueWaits(
  deps: WakeDeps & { logger: Pick<Logger, "warn"> },
  now?: Date,
): Promise<number> {
  let woken = 0;
  for (const wait of await listOverdueWaits(deps.db, OVERDUE_AT_ONCE, now)) {
    try {
      const job = await wakeRun(deps, wait, "deadline");
      if (job) woken++;
      await sendWake(deps, job);
    } catch (error) {
      deps.logger.warn({ err: error, runId: wait.runId }, "a wait whose time is over could not be ended");
    }
  }
  return woken;
}

/** Ends the waits of a session for control of its browser, because no person has it any more. */
export async function endControlWaits(deps: WakeDeps, sessionId: string): Promise<void> {
  for (const wait of await listControlWaits(deps.db, sessionId))
    await sendWake(deps, await wakeRun(deps, wait, "settled"));
}
