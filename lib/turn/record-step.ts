import type { ModelMessage } from "ai";
import type { Transaction } from "#db/client.ts";
import type { Emit } from "#lib/events/event-log.ts";
import { type Claim, StaleClaimError } from "./claim.ts";
import { findStepOutput, insertStep } from "./store.ts";
import type { TurnDeps } from "./turn-deps.ts";

/** What a step leaves behind: a small value for the engine, and what the model sees from now on. */
export type StepRecord<Output> = { output: Output; modelMessages?: ModelMessage[] };

/** A recorded step's value, and whether somebody asked the run to stop meanwhile. */
export type Recorded<Output> = { output: Output; isStopped: boolean };

/** The value of a step that was recorded before, by this executor or one that died. */
export async function findRecorded<Output>(
  turn: TurnDeps,
  claim: Claim,
  name: string,
): Promise<Recorded<Output> | undefined> {
  const row = await findStepOutput(turn.db, claim.runId, name);
  // Each name is written by one function, which knows its type.
  return row && { output: row.output as Output, isStopped: turn.stops.signalOf(claim.runId).aborted };
}

/**
 * Records a step with its effects in one transaction, fenced by the claim's epoch.
 *
 * @throws StaleClaimError when the claim is over; nothing is written then.
 */
export async function recordStep<Output>(
  turn: TurnDeps,
  claim: Claim,
  name: string,
  work: (tx: Transaction, emit: Emit) => Promise<StepRecord<Output>>,
): Promise<Recorded<Output>> {
  const { record, isStopped } = await turn.log.transact(claim.sessionId, async (tx, emit) => {
    const made = await work(tx, emit);
    const modelMessages = made.modelMessages ?? null;
    const { isCurrent, isCancelled } = await insertStep(tx, claim, {
      name,
      output: made.output,
      modelMessages,
    });
    if (!isCurrent) throw new StaleClaimError(claim, name);
    return { record: made, isStopped: isCancelled };
  });
  if (record.modelMessages) turn.conversations.append(claim.runId, record.modelMessages);
  return { output: record.output, isStopped };
}
