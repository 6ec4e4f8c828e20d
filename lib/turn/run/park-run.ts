import type { Transaction } from "#db/client.ts";
import { repeatOnDeadlock } from "#db/repeat-on-deadlock.ts";
import type { NewEvent } from "#lib/events/event.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import { type Budget, isSameBudget } from "#lib/session/budget/budget.ts";
import { readBudget } from "#lib/session/budget/budget-store.ts";
import { hasUnreadSteers } from "#lib/session/follow-up/steering.ts";
import { lockCounters } from "#lib/session/store/follow-up-store.ts";
import { openBudgetItem } from "#lib/session/store/inbox-store.ts";
import { listSettledWaits, type NewWait, openWaits } from "#lib/session/store/wait-store.ts";
import { reportWaiting } from "#lib/session/waiting/report-items.ts";
import { endControlWaits } from "#lib/session/waiting/waiting.ts";
import { toWaitingOn } from "#lib/session/waiting/waiting-on.ts";
import { aboutRun, StaleClaimError } from "../record/claim.ts";
import { lockRunAndSession } from "../record/turn-store.ts";
import { announce, writeEvents } from "./record-step.ts";
import { browserSessionOf, type RunInPlay, rootSessionOf } from "./run-in-play.ts";
import type { TurnDeps } from "./turn-deps.ts";

/**
 * Parks a run that waits: it stays the session's active run, but no executor plays it until it is woken. The run is not
 * parked if a stop was requested, a message joined the turn, or one of its waits has already ended. The reason is then
 * stored in `run`. Source: `architecture.md`, Turns that wait.
 *
 * @param exhausted for a wait of the kind `budget`: the session's budget that the run has used up. If that budget was
 * changed after the check, the run is not parked.
 * @returns whether the run was parked. If so, this executor stops playing it.
 * @throws StaleClaimError when the claim is over; nothing is written then.
 */
export async function parkRun(
  deps: TurnDeps,
  run: RunInPlay,
  waits: NewWait[],
  exhausted?: Budget,
): Promise<boolean> {
  await faultPoint("park-begun");
  const parked = await repeatOnDeadlock(() => deps.db.transaction((tx) => park(tx, run, waits, exhausted)));
  if (parked.kind === "raised") {
    deps.spending.budgetChanged(rootSessionOf(run));
    return false;
  }
  if (parked.kind !== "parked") {
    recordHindrance(run, waits, parked);
    return false;
  }
  await faultPoint("park-committed");
  const { sessionId } = run.claim;
  announce(deps, parked.written);
  // If the person released the browser before the commit, the release found no wait to end, so the wait is ended here.
  if (
    waits.some(({ kind }) => kind === "control") &&
    deps.control.holderOf(browserSessionOf(run)) === undefined
  )
    await endControlWaits(deps, sessionId);
  return true;
}

/** Why a run was not parked. */
type Hindrance = { kind: "stopped" } | { kind: "message" } | { kind: "settled"; callIds: string[] };

async function park(tx: Transaction, run: RunInPlay, waits: NewWait[], exhausted: Budget | undefined) {
  const { claim, session } = run;
  const rootId = rootSessionOf(run);
  // Locking the root session prevents a change of the budget. To avoid deadlocks, ancestors are locked before
  // descendants.
  if (exhausted && rootId !== session.id) await lockCounters(tx, rootId);
  const locked = await lockRunAndSession(tx, claim.runId);
  if (locked?.epoch !== claim.epoch) throw new StaleClaimError(claim);
  if (locked.isCancelled) return { kind: "stopped" } as const;
  if (await hasUnreadSteers(tx, claim.requestId)) return { kind: "message" } as const;
  const callIds = await listSettledWaits(tx, waits);
  if (callIds.length > 0) return { kind: "settled", callIds } as const;
  if (exhausted && !isSameBudget(exhausted, await readBudget(tx, rootId))) return { kind: "raised" } as const;
  await openWaits(tx, claim, waits);
  for (const { kind, subjects, deadlineAt } of waits)
    if (kind === "budget")
      await openBudgetItem(tx, claim, { sentence: subjects.join(" "), until: deadlineAt });
  const parkedAt = new Date();
  const waitingOn = toWaitingOn(waits, parkedAt);
  const events: NewEvent[] = waitingOn ? [{ kind: "turn.waiting", ...aboutRun(claim), waitingOn }] : [];
  const reports = waits.some(({ kind }) => kind === "person" || kind === "budget")
    ? await reportWaiting(tx, claim.runId)
    : [];
  const all = [...events, ...reports.map(({ event }) => event)];
  const written = await writeEvents(tx, claim, session, all, { parkedAt });
  if (!written) throw new StaleClaimError(claim);
  for (const [index, { onStored }] of reports.entries()) {
    const stored = written.events[events.length + index];
    if (stored) await onStored(stored);
  }
  const jobs = [...written.jobs, ...reports.flatMap((report) => report.jobs)];
  return { kind: "parked", written: { ...written, jobs } } as const;
}

/** Stores in the run why it was not parked, and how the wait of each call ended. */
function recordHindrance(run: RunInPlay, waits: NewWait[], hindrance: Hindrance): void {
  if (hindrance.kind === "stopped") run.isCancelled = true;
  if (hindrance.kind === "message") run.isSteered = true;
  for (const { callId, createdAt, subjects } of waits) {
    const isEnded = hindrance.kind !== "settled" || hindrance.callIds.includes(callId);
    run.waits.set(callId, { since: createdAt, subjects, endedBy: isEnded ? hindrance.kind : undefined });
  }
}
