import type { Transaction } from "#db/client.ts";
import { repeatOnDeadlock } from "#db/repeat-on-deadlock.ts";
import type { Deliverable, NewEvent } from "#lib/events/event.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import type { ModelFailure } from "#lib/model/failure.ts";
import { releaseSteers } from "#lib/session/follow-up/steering.ts";
import { requestRun } from "#lib/session/jobs/jobs.ts";
import { newId } from "#lib/session/new-id.ts";
import { isOpen } from "#lib/session/run/run-store.ts";
import type { SessionRow } from "#lib/session/session-store.ts";
import {
  findLastAnswer,
  type MessageRow,
  toTranscriptMessage,
} from "#lib/session/transcript/transcript-store.ts";
import type { Claim } from "../record/claim.ts";
import { aboutRun } from "../record/claim.ts";
import { announce, type StepRecord, splitStep, writeEvents } from "../record/record-step.ts";
import { type LockedRun, lockRunAndSession } from "../record/turn-store.ts";
import type { Fence, TurnWrite } from "../record/turn-write.ts";
import type { ModelStep } from "../step/call-model.ts";
import { describeMessage } from "../step/describe-message.ts";
import type { TurnDeps } from "../turn-deps.ts";
import { describeAsked } from "./open-run.ts";
import { planRetry } from "./retry-chain.ts";
import { sumUsage } from "./sum-usage.ts";

/**
 * How a run ends: `deliverable` is the structured call's result, `conclusion` the last model step where it is not written
 * yet, and `canGoOn` says whether the turn can still read a message that arrives while it ends.
 */
export type RunEnd =
  | { outcome: "succeeded"; deliverable?: Deliverable; conclusion?: StepRecord<ModelStep>; canGoOn: boolean }
  | { outcome: "errored"; failure: ModelFailure }
  | { outcome: "cancelled"; reason: string };

/** The part of a run that ending it needs: an executor holds it, and it is read for a run without an executor. */
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
 * of the run that follows (a retry, or the next request in the queue).
 *
 * @param fence which run may be ended: one whose claim holds, one that has not started, or any open one.
 * @returns `held` when a message or a stop arrived for a turn that was about to succeed: the turn goes on and nothing
 * was written; `refused` when the fence did not hold.
 */
export async function closeRun(
  deps: TurnDeps,
  run: Endable,
  end: RunEnd,
  fence: Fence = "claimed",
): Promise<"ended" | "held" | "refused"> {
  const { claim, session } = run;
  await faultPoint("close-begun");
  const close = async (tx: Transaction) => {
    const locked = await lockRunAndSession(tx, claim.runId);
    if (!locked || !mayEnd(locked, claim, fence)) return "refused";
    if (end.outcome === "succeeded" && end.conclusion && locked.isCancelled) return "held";
    const retry = planNext(deps, locked, end);
    const carriesResult = claim.isStructured && run.startedAt !== null;
    const lastAnswer = carriesResult ? await findLastAnswer(tx, claim.runId) : undefined;
    const { events, ...write } = describeEnd(run, locked, end, { retry, lastAnswer });
    const written = await writeEvents(tx, claim, session, events, write, fence);
    if (written) return written;
    // The run may end, so the write was refused because of an unread message that joined the turn.
    if (end.outcome === "succeeded" && end.canGoOn) return "held";
    await releaseSteers(tx, claim);
    return (await writeEvents(tx, claim, session, events, write, fence)) ?? "refused";
  };
  const closed = await repeatOnDeadlock(() => deps.db.transaction(close));
  if (typeof closed === "string") return closed;
  deps.stops.forget(claim.runId);
  await faultPoint("close-committed");
  const { following } = closed.receipt;
  announce(deps, closed);
  if (following) deps.jobs.sendSoon([requestRun({ ...following, sessionId: claim.sessionId })]);
  return "ended";
}

function mayEnd(run: LockedRun, claim: Claim, fence: Fence): boolean {
  if (fence === "pending") return run.state === "pending";
  return isOpen(run) && (fence === "open" || run.epoch === claim.epoch);
}

type Retry = { runId: string; attempt: number; delayMs: number };

/** Plans the retry that follows a failed run; none after a request to stop the turn. */
function planNext(deps: TurnDeps, run: LockedRun, end: RunEnd): Retry | undefined {
  if (end.outcome !== "errored" || run.isCancelled) return undefined;
  const retry = planRetry(end.failure, run.attempt, deps.settings.retryBaseMs, Math.random());
  return retry && { runId: newId("run"), attempt: run.attempt + 1, delayMs: retry.delayMs };
}

/** Describes everything that ending a run writes, with its events. */
function describeEnd(
  { claim, asked, startedAt, outputs }: Endable,
  { state, messageSeq }: LockedRun,
  end: RunEnd,
  { retry: next, lastAnswer }: { retry: Retry | undefined; lastAnswer: MessageRow | undefined },
): Omit<TurnWrite, "drafts" | "delivery"> & { events: NewEvent[] } {
  const endedAt = new Date();
  // Messages in the transcript of a turn that never started still get their events, and the next turn's model sees them.
  const isUntold = state === "pending" && claim.attempt === 1 && asked.every(({ seq }) => seq !== null);
  const opened = isUntold ? describeAsked(claim, asked, messageSeq) : undefined;
  const conclusion = end.outcome === "succeeded" && end.conclusion ? splitStep(end.conclusion) : undefined;
  const usage = sumUsage([...outputs.values(), conclusion?.write.step.output], startedAt, endedAt);
  const settled = claim.isStructured ? settleDeliverable(claim, end) : undefined;
  const carried =
    settled && startedAt ? carryDeliverable(claim, messageSeq, settled.deliverable, lastAnswer) : undefined;
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
  const { event: message, ...placed } = carried ?? {};
  return {
    ...conclusion?.write,
    ...placed,
    ...(settled && { deliverable: settled.deliverable }),
    ...(opened && { step: { name: "open", output: {}, modelMessages: opened.modelMessages } }),
    events: [
      ...(opened?.events ?? []),
      ...(conclusion?.events ?? []),
      ...(message ? [message] : []),
      ...(settled ? [settled.event] : []),
      completed,
    ],
    end: { state: end.outcome, error, usage, endedAt, retry: next },
    jobs: next ? [requestRun({ id: next.runId, sessionId: claim.sessionId, generation: 1 })] : [],
  };
}

/** The deliverable a run ends with, and its event. */
function settleDeliverable(claim: Claim, end: RunEnd): { deliverable: Deliverable; event: NewEvent } {
  const deliverable =
    end.outcome === "succeeded" && end.deliverable ? end.deliverable : failDeliverable(claim.runId, end);
  const kind = deliverable.status === "ready" ? "deliverable.ready" : "deliverable.failed";
  return { deliverable, event: { kind, ...aboutRun(claim), deliverable } };
}

/**
 * Puts a run's deliverable into the transcript, as a part of the agent's last message; a run without one gets a message
 * for it. Source: `wire.md`, The deliverable part.
 */
function carryDeliverable(
  claim: Claim,
  messageSeq: number,
  deliverable: Deliverable,
  lastAnswer: MessageRow | undefined,
): Pick<TurnWrite, "messages" | "messageSeq" | "updatedMessages"> & { event: NewEvent } {
  const part = { type: "data-deliverable" as const, data: deliverable };
  if (!lastAnswer) return describeMessage(claim, messageSeq, { id: newId("msg"), parts: [part] });
  const parts = [...lastAnswer.parts, part];
  const message = toTranscriptMessage({ ...lastAnswer, parts }, lastAnswer.seq ?? 0);
  return {
    updatedMessages: [{ id: lastAnswer.id, parts }],
    event: { kind: "message.completed", ...aboutRun(claim), message },
  };
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
