import type { ModelMessage } from "ai";
import type { Executor } from "#db/client.ts";
import { planDelivery } from "#lib/callback/plan-delivery.ts";
import { draftEvents, numberEvents } from "#lib/events/draft-event.ts";
import type { NewEvent, StoredEvent } from "#lib/events/event.ts";
import { type Job, requestDelivery } from "#lib/session/store/jobs.ts";
import type { SessionRow } from "#lib/session/store/session-store.ts";
import { type Claim, StaleClaimError } from "../record/claim.ts";
import type { Fence, StepWrite, TurnWrite, WriteReceipt } from "../record/turn-write.ts";
import { writeTurn } from "../record/write-turn.ts";
import type { RunInPlay } from "./run-in-play.ts";
import type { TurnDeps } from "./turn-deps.ts";

type RecordedStep = Omit<StepWrite, "modelMessages"> & { modelMessages?: ModelMessage[] | undefined };

/**
 * A step to record: its output (a small value), the messages that it adds for the model, and its effects, such as
 * events.
 */
export type StepRecord<Output> = RecordedStep & {
  output: Output;
  events: NewEvent[];
} & Omit<TurnWrite, "step" | "drafts" | "delivery" | "jobs" | "end">;

/**
 * Records a step with all its effects in one statement, if the claim is still valid, and then publishes its events.
 *
 * @throws StaleClaimError when the claim is over; nothing is written then.
 */
export async function recordStep<Output>(
  deps: TurnDeps,
  run: RunInPlay,
  record: StepRecord<Output>,
): Promise<Output> {
  if (!(await recordIf(deps, run, record, "claimed"))) throw new StaleClaimError(run.claim);
  return record.output;
}

/** Records a step if the condition `fence` holds. @returns false if nothing was written. */
export async function recordIf(
  deps: TurnDeps,
  run: RunInPlay,
  record: StepRecord<unknown>,
  fence: Fence,
): Promise<boolean> {
  const { events, write } = splitStep(record);
  // A step with events updates the session's row anyway, so the step also records the time since the last count.
  if (events.length > 0) write.spend ??= deps.spending.countTime(run);
  const written = await writeEvents(deps.db, run.claim, run.session, events, write, fence);
  if (!written) return false;
  applyStep(run, write.step, write.messageSeq, written.receipt);
  announce(deps, written);
  return true;
}

/**
 * Records an answer of the model together with the result of its only call, in one statement.
 *
 * @throws StaleClaimError when the claim is over; nothing is written then.
 */
export async function recordAnswered(
  deps: TurnDeps,
  run: RunInPlay,
  answer: StepRecord<unknown>,
  result: StepRecord<unknown>,
): Promise<void> {
  const { events: answerEvents, write: answerWrite } = splitStep(answer);
  const { events, write } = splitStep(result);
  const { step: stepBefore, ...answerEffects } = answerWrite;
  const both = { ...answerEffects, ...write, stepBefore };
  const written = await writeEvents(deps.db, run.claim, run.session, [...answerEvents, ...events], both);
  if (!written) throw new StaleClaimError(run.claim);
  const { receipt } = written;
  applyStep(run, stepBefore, answerWrite.messageSeq, { ...receipt, position: receipt.positionBefore });
  applyStep(run, write.step, undefined, receipt);
  announce(deps, written);
}

/** Splits a step into its write and its events. */
export function splitStep<Output>({
  name,
  output,
  modelMessages,
  replacesThrough,
  events,
  ...effects
}: StepRecord<Output>) {
  return { events, write: { ...effects, step: { name, output, modelMessages, replacesThrough } } };
}

/** Updates a run in memory after one of its steps was written. */
export function applyStep(
  run: RunInPlay,
  { name, output, modelMessages, replacesThrough }: RecordedStep,
  messageSeq: number | undefined,
  { position, isCancelled, isSteered }: WriteReceipt,
): void {
  run.outputs.set(name, output);
  run.isCancelled ||= isCancelled;
  run.isSteered ||= isSteered;
  if (messageSeq !== undefined) run.messageSeq = messageSeq;
  if (modelMessages) run.history.append({ position, messages: modelMessages, replacesThrough });
}

/** What to publish after the commit of a write, and the write's receipt. */
export type Written = { receipt: WriteReceipt; events: StoredEvent[]; jobs: Job[] };

/**
 * Writes events of a run with their effects. If the session's callback is subscribed to one of the events, also writes
 * the callback of that event and the job that delivers it.
 * @returns undefined if nothing was written: the condition `fence` did not hold, or a message that joined the turn is
 * unread and the write does not allow this (`unlessSteered`).
 */
export async function writeEvents(
  db: Executor,
  claim: Pick<Claim, "runId" | "epoch">,
  { id: sessionId, callbackEvents }: Pick<SessionRow, "id" | "callbackEvents">,
  events: NewEvent[],
  write: Omit<TurnWrite, "drafts" | "delivery">,
  fence?: Fence,
): Promise<Written | undefined> {
  const drafts = draftEvents(sessionId, events);
  // An attempt that is retried is not the end of its request, so the caller gets the callback of the last attempt only.
  const subscribed = write.end?.retry ? null : callbackEvents;
  const [delivery] = drafts.flatMap((draft) => {
    const planned = planDelivery(subscribed, sessionId, draft);
    return planned ? [{ ...planned, draft }] : [];
  });
  const jobs = [...(write.jobs ?? []), ...(delivery ? [requestDelivery({ id: delivery.id, cycle: 1 })] : [])];
  const receipt = await writeTurn(db, { ...claim, sessionId }, { ...write, drafts, delivery, jobs }, fence);
  return receipt && { receipt, events: numberEvents(sessionId, drafts, receipt.lastSeq), jobs };
}

/** Publishes the events of a committed write, and sends its jobs to the engine. */
export function announce(deps: Pick<TurnDeps, "log" | "jobs">, { events, jobs }: Written): void {
  deps.log.publish(events);
  deps.jobs.sendSoon(jobs);
}
