import type { ModelMessage } from "ai";
import type { Executor } from "#db/client.ts";
import { planDelivery } from "#lib/callback/plan-delivery.ts";
import { draftEvents, numberEvents } from "#lib/events/draft-event.ts";
import type { NewEvent, StoredEvent } from "#lib/events/event.ts";
import { type Job, requestDelivery } from "#lib/session/jobs/jobs.ts";
import type { SessionRow } from "#lib/session/session-store.ts";
import type { RunInPlay } from "../run/run-in-play.ts";
import type { TurnDeps } from "../turn-deps.ts";
import { type Claim, StaleClaimError } from "./claim.ts";
import { writeTurn } from "./step-store.ts";
import type { Fence, StepWrite, TurnWrite, WriteReceipt } from "./turn-write.ts";

type RecordedStep = Omit<StepWrite, "modelMessages"> & { modelMessages?: ModelMessage[] | undefined };

/** What a step leaves behind: a small value, what the model sees from now on, and its effects. */
export type StepRecord<Output> = RecordedStep & {
  output: Output;
  events: NewEvent[];
} & Omit<TurnWrite, "step" | "drafts" | "delivery" | "jobs" | "end">;

/**
 * Records a step with all its effects, in one statement fenced by the claim's epoch; then tells the followers.
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

/** Records a step where its fence holds. @returns whether it does; nothing is written otherwise. */
export async function recordIf(
  deps: TurnDeps,
  run: RunInPlay,
  record: StepRecord<unknown>,
  fence: Fence,
): Promise<boolean> {
  const { events, write } = splitStep(record);
  // A step that writes the session's row anyway also records the time since the last one.
  if (events.length > 0) write.spend ??= deps.spending.countTime(run);
  const written = await writeEvents(deps.db, run.claim, run.session, events, write, fence);
  if (!written) return false;
  keepStep(run, write.step, write.messageSeq, written.receipt);
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
  keepStep(run, stepBefore, answerWrite.messageSeq, { ...receipt, position: receipt.positionBefore });
  keepStep(run, write.step, undefined, receipt);
  announce(deps, written);
}

/** A step as what is written of it, and the events that tell of it. */
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

/** Keeps a run up with a step that was written. */
export function keepStep(
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

/** What was written, for those who are told of it after the commit. */
export type Written = { receipt: WriteReceipt; events: StoredEvent[]; jobs: Job[] };

/** Writes events of a run together with what they report; a lifecycle event brings its callback and the job for it. */
export async function writeEvents(
  db: Executor,
  claim: Pick<Claim, "runId" | "epoch">,
  { id: sessionId, callbackEvents }: Pick<SessionRow, "id" | "callbackEvents">,
  events: NewEvent[],
  write: Omit<TurnWrite, "drafts" | "delivery">,
  fence?: Fence,
): Promise<Written | undefined> {
  const drafts = draftEvents(sessionId, events);
  const [delivery] = drafts.flatMap((draft) => {
    const planned = planDelivery(callbackEvents, sessionId, draft);
    return planned ? [{ ...planned, draft }] : [];
  });
  const jobs = [...(write.jobs ?? []), ...(delivery ? [requestDelivery({ id: delivery.id, cycle: 1 })] : [])];
  const receipt = await writeTurn(db, claim, { ...write, drafts, delivery, jobs }, fence);
  return receipt && { receipt, events: numberEvents(sessionId, drafts, receipt.lastSeq), jobs };
}

/** Tells the followers of a committed write, and the engine of its jobs. */
export function announce(deps: Pick<TurnDeps, "log" | "jobs">, { events, jobs }: Written): void {
  deps.log.publish(events);
  deps.jobs.sendSoon(jobs);
}
