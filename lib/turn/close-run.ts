import type { Transaction } from "#db/client.ts";
import { repeatOnDeadlock } from "#db/repeat-on-deadlock.ts";
import type { Deliverable, NewEvent } from "#lib/events/event.ts";
import { faultPoint } from "#lib/events/fault-point.ts";
import type { ModelFailure } from "#lib/model/failure.ts";
import { requestRun } from "#lib/session/jobs.ts";
import type { MessageRow } from "#lib/session/message-store.ts";
import { newId } from "#lib/session/new-id.ts";
import { isOpen } from "#lib/session/run-store.ts";
import { releaseSteers } from "#lib/session/steering.ts";
import type { SessionRow } from "#lib/session/store.ts";
import { aboutRun } from "./about-run.ts";
import type { ModelStep } from "./call-model.ts";
import type { Claim } from "./claim.ts";
import { describeAsked } from "./describe-asked.ts";
import { describeMessage } from "./describe-message.ts";
import { announce, type StepRecord, splitStep, writeEvents } from "./record-step.ts";
import { planRetry } from "./retry-chain.ts";
import { type LockedRun, lockRunAndSession } from "./store.ts";
import { sumUsage } from "./sum-usage.ts";
import type { TurnDeps } from "./turn-deps.ts";
import type { Fence, TurnWrite } from "./turn-write.ts";

/**
 * How a run is to end; `deliverable` where the structured call gave one, `conclusion` where its last model step is still
 * to be written, `isFull` where it has no step left for a message that comes for it.
 */
export type RunEnd =
  | { outcome: "succeeded"; deliverable?: Deliverable; conclusion?: StepRecord<ModelStep>; isFull: boolean }
  | { outcome: "errored"; failure: ModelFailure }
  | { outcome: "cancelled"; reason: string };

/** What of a run its end is made of: what an executor holds, or what is read for one that has none. */
export type Endable = {
  claim: Claim;
  session: Pick<SessionRow, "id" | "callbackEvents">;
  /** The messages that its request brought. */
  asked: MessageRow[];
  startedAt: Date | null;
  outputs: ReadonlyMap<string, unknown>;
};

/**
 * Ends a run once, in one transaction: its state, its deliverable, `run.completed` with its callback row, and the job
 * of what comes next (a retry, or the next request in the queue).
 *
 * @param fence which run may be ended: one whose claim holds, one that has not started, or any open one.
 * @returns `held` where a message, or a stop, came for a turn that was to succeed: it is to go on, and nothing was
 * written; `refused` where the fence did not hold.
 */
export async function closeRun(
  turn: TurnDeps,
  run: Endable,
  end: RunEnd,
  fence: Fence = "claimed",
): Promise<"ended" | "held" | "refused"> {
  const { claim, session } = run;
  await faultPoint("K20");
  const close = async (tx: Transaction) => {
    const locked = await lockRunAndSession(tx, claim.runId);
    if (!locked || !mayEnd(locked, claim, fence)) return "refused";
    if (end.outcome === "succeeded" && end.conclusion && locked.isCancelled) return "held";
    const retry = planNext(turn, locked, end);
    const { events, ...write } = describeEnd(run, locked, end, retry);
    const written = await writeEvents(tx, claim, session, events, write, fence);
    if (written) return written;
    // What refuses a run that may end is a message put into its turn and not yet read.
    if (end.outcome === "succeeded" && !end.isFull) return "held";
    await releaseSteers(tx, claim);
    return (await writeEvents(tx, claim, session, events, write, fence)) ?? "refused";
  };
  const closed = await repeatOnDeadlock(() => turn.db.transaction(close));
  if (typeof closed === "string") return closed;
  turn.stops.forget(claim.runId);
  await faultPoint("K21");
  const { following } = closed.receipt;
  announce(turn, closed);
  if (following) turn.jobs.sendSoon([requestRun({ ...following, sessionId: claim.sessionId })]);
  return "ended";
}

function mayEnd(run: LockedRun, claim: Claim, fence: Fence): boolean {
  if (fence === "pending") return run.state === "pending";
  return isOpen(run) && (fence === "open" || run.epoch === claim.epoch);
}

type Retry = { runId: string; attempt: number; delayMs: number };

/** The retry that follows a failed run; none once somebody asked the turn to stop. */
function planNext(turn: TurnDeps, run: LockedRun, end: RunEnd): Retry | undefined {
  if (end.outcome !== "errored" || run.isCancelled) return undefined;
  const retry = planRetry(end.failure, run.attempt, turn.settings.retryBaseMs, Math.random());
  return retry && { runId: newId("run"), attempt: run.attempt + 1, delayMs: retry.delayMs };
}

/** What a run's end writes, and the events that tell of it. */
function describeEnd(
  { claim, asked, startedAt, outputs }: Endable,
  { state, messageSeq }: LockedRun,
  end: RunEnd,
  next: Retry | undefined,
): Omit<TurnWrite, "drafts" | "delivery"> & { events: NewEvent[] } {
  const endedAt = new Date();
  // A turn that ends before it began: what stands in the transcript already is told of, and seen by the next turn.
  const isToldOf = state === "pending" && claim.attempt === 1 && asked.every(({ seq }) => seq !== null);
  const opened = isToldOf ? describeAsked(claim, asked, messageSeq) : undefined;
  const conclusion = end.outcome === "succeeded" && end.conclusion ? splitStep(end.conclusion) : undefined;
  const usage = sumUsage([...outputs.values(), conclusion?.write.step.output], startedAt, endedAt);
  const settled = claim.isStructured ? describeDeliverable(claim, startedAt, messageSeq, end) : undefined;
  const error = end.outcome === "errored" ? end.failure.message : null;
  const completed: NewEvent = {
    kind: "run.completed",
    ...aboutRun(claim),
    outcome: end.outcome,
    ...(error !== null && { error }),
    ...(settled && { deliverable: settled.deliverable }),
    usage,
    ...(next && { willRetry: next }),
  };
  const retry = next && { ...next, notBefore: new Date(endedAt.getTime() + next.delayMs) };
  const { events: told = [], ...rest } = settled ?? {};
  return {
    ...conclusion?.write,
    ...rest,
    ...(opened && { step: { name: "open", output: {}, modelMessages: opened.modelMessages } }),
    events: [...(opened?.events ?? []), ...(conclusion?.events ?? []), ...told, completed],
    end: { state: end.outcome, error, usage, endedAt, retry },
    jobs: next ? [requestRun({ id: next.runId, sessionId: claim.sessionId, generation: 1 })] : [],
  };
}

/** The deliverable a run ends with; that of a run which had started also stands in the transcript. */
function describeDeliverable(claim: Claim, startedAt: Date | null, messageSeq: number, end: RunEnd) {
  const deliverable =
    end.outcome === "succeeded" && end.deliverable ? end.deliverable : failDeliverable(claim.runId, end);
  const parts = [{ type: "data-deliverable" as const, data: deliverable }];
  const { event: told, ...message } = describeMessage(claim, messageSeq, { id: newId("msg"), parts });
  const kind =
    deliverable.status === "ready" ? ("deliverable.ready" as const) : ("deliverable.failed" as const);
  const settled: NewEvent = { kind, ...aboutRun(claim), deliverable };
  return startedAt
    ? { deliverable, ...message, events: [told, settled] }
    : { deliverable, events: [settled] };
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
