import type { Transaction } from "#db/client.ts";
import type { UsageRow } from "#db/schema/index.ts";
import type { Deliverable, RunOutcome } from "#lib/events/event.ts";
import type { Emit } from "#lib/events/event-log.ts";
import { faultPoint } from "#lib/events/fault-point.ts";
import type { ModelFailure } from "#lib/model/failure.ts";
import type { Job } from "#lib/session/jobs.ts";
import { newId } from "#lib/session/new-id.ts";
import { enqueueRun } from "#lib/session/outbox-store.ts";
import { isOpen, listOpenRuns, type RunRow } from "#lib/session/run-store.ts";
import { releaseSteers } from "#lib/session/steering.ts";
import { lockSession, type SessionRow } from "#lib/session/store.ts";
import { aboutRun } from "./about-run.ts";
import type { Claim } from "./claim.ts";
import { emitLifecycle } from "./emit-lifecycle.ts";
import { forgetRun } from "./prepare-run.ts";
import { planRetry } from "./retry-chain.ts";
import { settleDeliverable } from "./settle-deliverable.ts";
import { endRun, insertRun, listStepOutputs, lockRun, releaseSession } from "./store.ts";
import { sumUsage } from "./sum-usage.ts";
import type { TurnDeps } from "./turn-deps.ts";

/** How a run is to end; `deliverable` where the structured call gave one. */
export type RunEnd =
  | { outcome: "succeeded"; deliverable?: Deliverable }
  | { outcome: "errored"; failure: ModelFailure }
  | { outcome: "cancelled"; reason: string };

/**
 * Which runs a closing may end: one its claim still holds, one that has not started, or (for the clean-up after an
 * executor that gave up) an open one, whoever holds it.
 */
export type Closable = "claimed" | "pending" | "open";

/**
 * Ends a run once, in one transaction: its state, its deliverable, `run.completed` with its callback row, and the job
 * of what comes next (a retry, or the next request in the queue). @returns false for a run that is not to be ended so.
 */
export async function closeRun(
  turn: TurnDeps,
  claim: Claim,
  end: RunEnd,
  closable: Closable = "claimed",
): Promise<boolean> {
  const send: Job[] = [];
  await faultPoint("K20");
  const isEnded = await turn.log.transact(claim.sessionId, async (tx, emit) => {
    const run = await lockRun(tx, claim.runId);
    // A follow-up on its way is either in the list below, or finds the session without an open run.
    const session = await lockSession(tx, claim.sessionId);
    if (!run || !session || !isClosable(run, claim, closable)) return false;
    const open = await listOpenRuns(tx, claim.sessionId);
    const endedAt = new Date();
    const outputs = turn.memory.of(claim)?.values() ?? (await listStepOutputs(tx, claim.runId));
    const usage = sumUsage(outputs, run.startedAt, endedAt);
    const next = planNext(turn, run, end);
    const error = end.outcome === "errored" ? end.failure.message : null;
    await endRun(tx, run.id, { state: end.outcome, error, willRetry: next !== undefined, usage, endedAt });
    if (next) await insertRetry(tx, claim, next);
    else await releaseSteers(tx, claim);
    await emitEnd(tx, emit, claim, { session, run, end, usage, next, send });
    await releaseSession(tx, claim.sessionId, claim.runId);
    // Where a request further back was removed, the first one has its job already.
    if (open[0]?.run.id !== run.id) return true;
    const following = (await listOpenRuns(tx, claim.sessionId))[0]?.run;
    if (following) send.push(await enqueueRun(tx, following));
    return true;
  });
  if (!isEnded) return false;
  turn.conversations.forget(claim.runId);
  turn.memory.forget(claim.runId);
  turn.stops.forget(claim.runId);
  forgetRun(turn, claim.runId);
  await faultPoint("K21");
  turn.jobs.sendSoon(send);
  return true;
}

function isClosable(run: RunRow, claim: Claim, closable: Closable): boolean {
  if (closable === "open") return isOpen(run);
  if (closable === "pending") return run.state === "pending";
  return run.epoch === claim.epoch && isOpen(run);
}

type Retry = { runId: string; attempt: number; delayMs: number };

/** The retry that follows a failed run; none once somebody asked the turn to stop. */
function planNext(turn: TurnDeps, run: RunRow, end: RunEnd): Retry | undefined {
  if (end.outcome !== "errored" || run.cancelRequestedAt) return undefined;
  const retry = planRetry(end.failure, run.attempt, turn.settings.retryBaseMs, Math.random());
  return retry && { runId: newId("run"), attempt: run.attempt + 1, delayMs: retry.delayMs };
}

type Ending = {
  session: SessionRow;
  run: RunRow;
  end: RunEnd;
  usage: UsageRow;
  next: Retry | undefined;
  send: Job[];
};

async function emitEnd(
  tx: Transaction,
  emit: Emit,
  claim: Claim,
  { session, run, end, usage, next, send }: Ending,
): Promise<void> {
  const deliverable = claim.isStructured ? await settleDeliverable(tx, emit, claim, run, end) : undefined;
  const outcome: RunOutcome = end.outcome;
  emitLifecycle(tx, emit, session.callbackEvents, send, {
    kind: "run.completed",
    ...aboutRun(claim),
    outcome,
    ...(end.outcome === "errored" && { error: end.failure.message }),
    ...(deliverable && { deliverable }),
    usage,
    ...(next && { willRetry: next }),
  });
}

async function insertRetry(tx: Transaction, claim: Claim, next: Retry): Promise<void> {
  await insertRun(tx, {
    id: next.runId,
    sessionId: claim.sessionId,
    requestId: claim.requestId,
    attempt: next.attempt,
    origin: "retry",
    notBefore: new Date(Date.now() + next.delayMs),
  });
}
