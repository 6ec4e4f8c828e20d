import type { Database, Transaction } from "#db/client.ts";
import { repeatOnDeadlock } from "#db/repeat-on-deadlock.ts";
import type { InboxState, WaitEnd } from "#db/schema/unions.ts";
import type { Emit, EventLog } from "#lib/events/event-log.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import type { Logger } from "#lib/log/logger.ts";
import type { JobSender } from "../jobs/job-sender.ts";
import { closeItemsOfCalls } from "../store/approval-store.ts";
import { closeQuestionsOf, readEventContext } from "../store/elicitation-store.ts";
import { closeItems } from "../store/inbox-store.ts";
import { type Job, requestRun } from "../store/jobs.ts";
import { findRun } from "../store/run-store.ts";
import { lockSession } from "../store/session-store.ts";
import { endWaitRows, listControlWaits, listOverdueWaits } from "../store/wait-store.ts";
import { readWaitingOn } from "./read-waiting-on.ts";
import { reportResumed } from "./report-items.ts";

/** Dependencies for waking parked runs. */
export type WakeDeps = { db: Database; log: EventLog; jobs: Pick<JobSender, "sendSoon"> };

/**
 * Ends the wait of one tool call in the caller's transaction, or all waits of the run if no `callId` is given. Wakes
 * the run if it is parked. Also closes the open questions of the call or run, except if `endedBy` is `settled`. The
 * caller must have locked the session, so that the run is not parked concurrently.
 * Source: `architecture.md`, Turns that wait.
 *
 * Reports the items that the run no longer waits for (`run.resumed`).
 *
 * @returns the job that continues the run, if this call has woken it, and the jobs that deliver callbacks. The
 * transaction stores them in the outbox. Send them with {@link sendWake} after the commit.
 */
export async function endWaits(
  tx: Transaction,
  emit: Emit,
  { runId, callId = null }: { runId: string; callId?: string | null },
  endedBy: WaitEnd,
): Promise<Job[]> {
  await closeQuestions(tx, emit, { runId, callId }, endedBy);
  const woken = await endWaitRows(tx, runId, endedBy, callId);
  if (!woken) return emitResumed(tx, emit, runId);
  // The item of a budget has the run as its subject. The run waits for the budget itself, so waking it ends that wait.
  await closeItems(tx, [runId], { state: BUDGET_STATE_AFTER[endedBy], settledBy: null });
  const { requestId, sessionId, generation, source } = woken;
  emit({ kind: "turn.resumed", requestId, runId, source, reason: endedBy });
  return [requestRun({ id: runId, sessionId, generation }), ...(await emitResumed(tx, emit, runId))];
}

/** Emits `run.resumed` for items that have ended. @returns the jobs that deliver its callbacks. */
async function emitResumed(tx: Transaction, emit: Emit, runId: string): Promise<Job[]> {
  const reports = await reportResumed(tx, runId);
  for (const { event, onStored } of reports) emit(event, onStored);
  return reports.flatMap(({ jobs }) => jobs);
}

/** A budget is larger when its wait is settled, and also at its deadline, when a new day of the owner begins. */
const BUDGET_STATE_AFTER = {
  settled: "done",
  deadline: "done",
  message: "withdrawn",
  stopped: "withdrawn",
} as const satisfies Record<WaitEnd, InboxState>;

async function closeQuestions(
  tx: Transaction,
  emit: Emit,
  { runId, callId }: { runId: string; callId: string | null },
  endedBy: WaitEnd,
): Promise<void> {
  if (endedBy === "settled") return;
  await closeItemsOfCalls(tx, { runId, callId }, endedBy === "deadline" ? "expired" : "withdrawn");
  const state = endedBy === "deadline" ? "unanswered" : "withdrawn";
  const ids = await closeQuestionsOf(tx, runId, state, callId);
  if (ids.length === 0) return;
  const about = await readEventContext(tx, runId);
  for (const elicitationId of ids)
    emit({ kind: "elicitation.resolved", ...about, elicitationId, state, answer: null });
}

/** Sends the jobs of {@link endWaits}. Call it after the commit. */
export async function sendWake(deps: Pick<WakeDeps, "jobs">, jobs: Job[]): Promise<void> {
  if (jobs.length === 0) return;
  await faultPoint("wake-committed");
  deps.jobs.sendSoon(jobs);
}

/** The job that continues the run, if the end of a wait has woken it. */
export const findWakeJob = (jobs: Job[]) => jobs.find((job) => job.name === "turn/run.requested");

/** Ends waits of a run in a new transaction, as {@link endWaits} does. */
export function wakeRun(
  deps: Pick<WakeDeps, "log">,
  { sessionId, ...wait }: { sessionId: string; runId: string; callId?: string },
  endedBy: WaitEnd,
): Promise<Job[]> {
  return repeatOnDeadlock(() =>
    deps.log.transact(sessionId, async (tx, emit) => {
      await lockSession(tx, sessionId);
      return endWaits(tx, emit, wait, endedBy);
    }),
  );
}

/** Emits `turn.waiting` again for a run that waits on, because the reason of its wait has changed. */
export function announceWait(
  deps: Pick<WakeDeps, "log">,
  { sessionId, runId }: { sessionId: string; runId: string },
): Promise<void> {
  return repeatOnDeadlock(() =>
    deps.log.transact(sessionId, async (tx, emit) => {
      await lockSession(tx, sessionId);
      const run = await findRun(tx, runId);
      const waitingOn = run?.parkedAt ? await readWaitingOn(tx, run) : null;
      if (waitingOn) emit({ kind: "turn.waiting", ...(await readEventContext(tx, runId)), waitingOn });
    }),
  );
}

const OVERDUE_AT_ONCE = 100;

/**
 * Ends at most 100 waits whose deadline has passed. A failure is logged, and the other waits are still ended.
 *
 * @param now replaces the clock in tests.
 * @returns the number of woken runs.
 */
export async function endOverdueWaits(
  deps: WakeDeps & { logger: Pick<Logger, "warn"> },
  now?: Date,
): Promise<number> {
  let woken = 0;
  for (const wait of await listOverdueWaits(deps.db, OVERDUE_AT_ONCE, now)) {
    try {
      const jobs = await wakeRun(deps, wait, "deadline");
      if (findWakeJob(jobs)) woken++;
      await sendWake(deps, jobs);
    } catch (error) {
      deps.logger.warn({ err: error, runId: wait.runId }, "ending an overdue wait failed");
    }
  }
  return woken;
}

/** Ends the waits for control of a session's browser, because no person has control any more. */
export async function endControlWaits(deps: WakeDeps, sessionId: string): Promise<void> {
  for (const wait of await listControlWaits(deps.db, sessionId))
    await sendWake(deps, await wakeRun(deps, wait, "settled"));
}
