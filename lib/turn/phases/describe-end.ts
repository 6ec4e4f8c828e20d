import type { UsageSum } from "#lib/agents/add-usage.ts";
import type { Deliverable, NewEvent } from "#lib/events/event.ts";
import type { OutcomeLists } from "#lib/events/outcome-schemas.ts";
import type { ModelFailure } from "#lib/model/failure.ts";
import { newId } from "#lib/session/new-id.ts";
import { requestReceipts, requestRun } from "#lib/session/store/jobs.ts";
import type { SessionRow } from "#lib/session/store/session-store.ts";
import { type MessageRow, toTranscriptMessage } from "#lib/session/store/transcript-store.ts";
import { aboutRun, type Claim } from "../record/claim.ts";
import type { LockedRun } from "../record/turn-store.ts";
import type { EndWrite, TurnWrite } from "../record/turn-write.ts";
import { type StepRecord, splitStep } from "../run/record-step.ts";
import { selectForEvent } from "../run/session-outcomes.ts";
import { describeMessage } from "../step/describe-message.ts";
import type { ModelStep } from "../step/model-step.ts";
import { describeRequestMessages } from "./open-run.ts";
import { sumUsage } from "./sum-usage.ts";

/**
 * How a run ends. `deliverable`: the result of the structured call. `conclusion`: the last model step, if it is not
 * written yet. `canContinue`: whether the turn can still read a message that arrives while it ends.
 */
export type RunEnd =
  | {
      outcome: "succeeded";
      deliverable?: Deliverable;
      conclusion?: StepRecord<ModelStep>;
      canContinue: boolean;
    }
  | { outcome: "errored"; failure: ModelFailure }
  | { outcome: "cancelled"; reason: string };

/** The fields of a run that are needed to end it. If the run has no executor, they are read from the database. */
export type Endable = {
  claim: Claim;
  session: Pick<
    SessionRow,
    "id" | "callbackEvents" | "parentSessionId" | "subAgents" | "outputSchema" | "toolset"
  >;
  requestMessages: MessageRow[];
  startedAt: Date | null;
  outputs: ReadonlyMap<string, unknown>;
};

/** Whether the turn has started: the run itself, or an earlier attempt of its request. */
export const hasTurnStarted = ({ claim, startedAt }: Pick<Endable, "claim" | "startedAt">): boolean =>
  startedAt !== null || claim.attempt > 1;

/** The run that repeats a failed one. */
export type Retry = { runId: string; attempt: number; delayMs: number };

/** Composes everything that the end of a run writes, with its events. */
export function describeEnd(
  { claim, session, requestMessages, startedAt, outputs }: Endable,
  { state, messageSeq }: Pick<LockedRun, "state" | "messageSeq">,
  end: RunEnd,
  {
    retry: next,
    lastAnswer,
    delegated,
    outcomes,
  }: {
    retry: Retry | undefined;
    lastAnswer: MessageRow | undefined;
    delegated: UsageSum | undefined;
    outcomes: OutcomeLists;
  },
): Omit<TurnWrite, "drafts" | "delivery"> & { events: NewEvent[]; end: EndWrite } {
  const endedAt = new Date();
  // The messages of a turn that never started may be in the transcript already. In that case, they also get events and
  // are added to the model's history, so that the next turn sees them.
  const isUnopened =
    state === "pending" && claim.attempt === 1 && requestMessages.every(({ seq }) => seq !== null);
  const opened = isUnopened ? describeRequestMessages(claim, requestMessages, messageSeq) : undefined;
  const conclusion = end.outcome === "succeeded" && end.conclusion ? splitStep(end.conclusion) : undefined;
  const own = sumUsage([...outputs.values(), conclusion?.write.step.output], startedAt, endedAt);
  const usage = { ...own, ...(delegated && { delegated }) };
  // A retry continues the request and has the deliverable, so the failed attempt has none.
  const concluded = claim.isStructured && !next ? concludeDeliverable(claim, end) : undefined;
  const added =
    concluded && hasTurnStarted({ claim, startedAt })
      ? addDeliverablePart(claim, messageSeq, concluded.deliverable, lastAnswer)
      : undefined;
  const error = end.outcome === "errored" ? end.failure.message : null;
  const completed: NewEvent = {
    kind: "run.completed",
    ...aboutRun(claim),
    outcome: end.outcome,
    ...(error !== null && { error }),
    ...(concluded && { deliverable: concluded.deliverable }),
    ...selectForEvent(session, outcomes),
    usage,
    ...(next && { willRetry: next }),
  };
  const { event: message, ...addedWrite } = added ?? {};
  return {
    ...conclusion?.write,
    ...addedWrite,
    ...(concluded && { deliverable: concluded.deliverable }),
    ...(opened && { step: { name: "open", output: {}, modelMessages: opened.modelMessages } }),
    events: [
      ...(opened?.events ?? []),
      ...(conclusion?.events ?? []),
      ...(message ? [message] : []),
      ...(concluded ? [concluded.event] : []),
      completed,
    ],
    end: { state: end.outcome, error, usage, endedAt, retry: next },
    jobs: [
      ...(next ? [requestRun({ id: next.runId, sessionId: claim.sessionId, generation: 1 })] : []),
      ...(concluded?.deliverable.status === "ready"
        ? [requestReceipts({ runId: claim.runId, jobNumber: 1 })]
        : []),
    ],
  };
}

/** Determines the final deliverable of a run, and its event. */
function concludeDeliverable(claim: Claim, end: RunEnd): { deliverable: Deliverable; event: NewEvent } {
  const deliverable =
    end.outcome === "succeeded" && end.deliverable ? end.deliverable : failDeliverable(claim.runId, end);
  const kind = deliverable.status === "ready" ? "deliverable.ready" : "deliverable.failed";
  return { deliverable, event: { kind, ...aboutRun(claim), deliverable } };
}

/**
 * Adds a run's deliverable to the transcript: as a part of the agent's last message, or as a separate message if there
 * is none. Source: `wire.md`, The deliverable part.
 */
function addDeliverablePart(
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
