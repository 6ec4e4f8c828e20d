import type { ModelMessage } from "ai";
import type { Transaction } from "#db/client.ts";
import type { Emit } from "#lib/events/event-log.ts";
import { type Claim, StaleClaimError } from "./claim.ts";
import { isShutdown, STOPPED_REASON } from "./stop-registry.ts";
import { findStep, insertStep } from "./store.ts";
import type { TurnDeps } from "./turn-deps.ts";

/** What a step leaves behind: a small value for the engine, and what the model sees from now on. */
export type StepRecord<Output> = { output: Output; modelMessages?: ModelMessage[] };

/** A recorded step's value, and whether somebody asked the run to stop meanwhile. */
export type Recorded<Output> = { output: Output; isStopped: boolean };

/**
 * The value of a step that was recorded before, by this executor or one that died. A stop that was asked for, here or
 * in a process that is gone, fires the run's signal.
 *
 * @throws StaleClaimError when the step is still to be done and the claim is over.
 */
export async function findRecorded<Output>(
  turn: TurnDeps,
  claim: Claim,
  name: string,
): Promise<Recorded<Output> | undefined> {
  // Made before the look at the row, so that a stop finds either the signal or a reader.
  const signal = turn.stops.signalOf(claim.runId);
  const memory = turn.memory.of(claim);
  // Each name is written by one function, which knows the type of its output, here and in the rows.
  if (memory) {
    // A process that ends fires the signal too, and stops no turn.
    const isStopped = signal.aborted && !isShutdown(signal.reason);
    return memory.has(name) ? { output: memory.get(name) as Output, isStopped } : undefined;
  }
  const { recorded, isCurrent, isCancelled } = await findStep(turn.db, claim, name);
  if (isCancelled) turn.stops.stop(claim.runId, STOPPED_REASON);
  if (recorded) return { output: recorded.output as Output, isStopped: isCancelled };
  if (!isCurrent) throw new StaleClaimError(claim, name);
  return undefined;
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
  const { record, isStopped } = await turn.log
    .transact(claim.sessionId, async (tx, emit) => {
      const made = await work(tx, emit);
      const modelMessages = made.modelMessages ?? null;
      const { isCurrent, isCancelled } = await insertStep(tx, claim, {
        name,
        output: made.output,
        modelMessages,
      });
      if (!isCurrent) throw new StaleClaimError(claim, name);
      return { record: made, isStopped: isCancelled };
    })
    .catch((error: unknown) => {
      // Whether it was committed is not known: from here on the rows are asked.
      turn.memory.forget(claim.runId);
      turn.conversations.forget(claim.runId);
      throw error;
    });
  turn.memory.of(claim)?.set(name, record.output);
  if (record.modelMessages) turn.conversations.append(claim.runId, record.modelMessages);
  return { output: record.output, isStopped };
}
