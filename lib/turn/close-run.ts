import type { Transaction } from "#db/client.ts";
import type { UsageRow } from "#db/schema/index.ts";
import type { Deliverable, RunOutcome } from "#lib/events/event.ts";
import type { Emit } from "#lib/events/event-log.ts";
import type { ModelFailure } from "#lib/model/failure.ts";
import type { Job } from "#lib/session/jobs.ts";
import { newId } from "#lib/session/new-id.ts";
import { enqueueRun } from "#lib/session/outbox-store.ts";
import { findDeliverable, findRun, findSession, listOpenRuns } from "#lib/session/store.ts";
import type { Claim } from "./claim.ts";
import { aboutRun, emitLifecycle } from "./open-run.ts";
import { forgetRun } from "./prepare-run.ts";
import { planRetry } from "./retry-chain.ts";
import { endRun, insertRun, listStepOutputs, releaseSession, upsertDeliverable } from "./store.ts";
import { sumUsage } from "./sum-usage.ts";
import type { TurnDeps } from "./turn-deps.ts";

/** How a run is to end; `deliverable` where the structured call gave one. */
export type RunEnd =
  | { outcome: "succeeded"; deliverable?: Deliverable }
  | { outcome: "errored"; failure: ModelFailure }
  | { outcome: "cancelled"; reason: string };

/**
 * Ends a run once, in one transaction: its state, its deliverable, `run.completed` with its callback row, and the job
 * of what comes next (a retry, or the next request in the queue). A run that has ended is left as it is.
 *
 * @param fence false for the clean-up after an executor that gave up, whatever its epoch.
 */
export async function closeRun(turn: TurnDeps, claim: Claim, end: RunEnd, fence = true): Promise<void> {
  const send: Job[] = [];
  await turn.log.transact(claim.sessionId, async (tx, emit) => {
    const run = await findRun(tx, claim.runId);
    const usage = sumUsage(await listStepOutputs(tx, claim.runId), run?.startedAt ?? null, new Date());
    const retry =
      end.outcome === "errored"
        ? planRetry(end.failure, claim.attempt, turn.settings.retryBaseMs, Math.random())
        : undefined;
    const error = end.outcome === "errored" ? end.failure.message : null;
    const ended = await endRun(tx, claim.runId, {
      ...{ state: end.outcome, error, willRetry: retry !== undefined, usage, at: new Date() },
      epoch: fence ? claim.epoch : null,
    });
    if (!ended) return;
    const next = retry && { runId: newId("run"), attempt: claim.attempt + 1, delayMs: retry.delayMs };
    if (next) await insertRetry(tx, claim, next);
    await emitEnd(tx, emit, claim, { end, usage, next, send });
    await releaseSession(tx, claim.sessionId, claim.runId);
    const [following] = await listOpenRuns(tx, claim.sessionId);
    // A queued request may be removed while another one plays; that one needs no second job.
    if (following?.run.state === "pending") send.push(await enqueueRun(tx, following.run));
  });
  turn.conversations.forget(claim.runId);
  turn.stops.forget(claim.runId);
  forgetRun(turn, claim.runId);
  await turn.jobs.sendNow(send);
}

type Ending = {
  end: RunEnd;
  usage: UsageRow;
  next: { runId: string; attempt: number; delayMs: number } | undefined;
  send: Job[];
};

async function emitEnd(
  tx: Transaction,
  emit: Emit,
  claim: Claim,
  { end, usage, next, send }: Ending,
): Promise<void> {
  const session = await findSession(tx, claim.sessionId);
  const deliverable = claim.isStructured ? await settleDeliverable(tx, claim, end) : undefined;
  if (deliverable?.status === "ready") emit({ kind: "deliverable.ready", ...aboutRun(claim), deliverable });
  if (deliverable?.status === "failed") emit({ kind: "deliverable.failed", ...aboutRun(claim), deliverable });
  const outcome: RunOutcome = end.outcome;
  emitLifecycle(tx, emit, session?.callbackEvents ?? null, send, {
    kind: "run.completed",
    ...aboutRun(claim),
    outcome,
    ...(end.outcome === "errored" && { error: end.failure.message }),
    ...(deliverable && { deliverable }),
    usage,
    ...(next && { willRetry: next }),
  });
}

/** The deliverable a run ends with; every run of a structured session ends with one that is not pending. */
async function settleDeliverable(tx: Transaction, claim: Claim, end: RunEnd): Promise<Deliverable> {
  const settled =
    end.outcome === "succeeded" && end.deliverable ? end.deliverable : failDeliverable(claim.runId, end);
  const recorded = await findDeliverable(tx, claim.runId);
  if (recorded && recorded.status !== "pending")
    throw new Error(`the deliverable of ${claim.runId} was settled before its run`);
  const value = settled.status === "ready" ? settled.value : null;
  const error = settled.status === "failed" ? settled.error : null;
  const rawText = settled.status === "failed" ? (settled.rawText ?? null) : null;
  await upsertDeliverable(tx, {
    runId: claim.runId,
    sessionId: claim.sessionId,
    status: settled.status,
    value,
    error,
    rawText,
  });
  return settled;
}

const failDeliverable = (runId: string, end: RunEnd): Deliverable => ({
  runId,
  status: "failed",
  error:
    end.outcome === "errored"
      ? end.failure.message
      : end.outcome === "cancelled"
        ? end.reason
        : "the run ended without a result",
});

async function insertRetry(
  tx: Transaction,
  claim: Claim,
  next: { runId: string; attempt: number; delayMs: number },
): Promise<void> {
  await insertRun(tx, {
    id: next.runId,
    sessionId: claim.sessionId,
    requestId: claim.requestId,
    attempt: next.attempt,
    origin: "retry",
    notBefore: new Date(Date.now() + next.delayMs),
  });
}
