import type { EngineClock } from "../clock.ts";
import type { Snapshot, WokenRun } from "../engine-store/engine-store.ts";
import { toSerializedError } from "../protocol.ts";
import type { FunctionHandler } from "../serve-in-process.ts";
import type { RegisteredFunction, Registry } from "../triggers/registry.ts";
import type { Backoff } from "./backoff.ts";
import { classifyAnswer, type Verdict } from "./classify-answer.ts";
import { invokeFunction } from "./invoke-function.ts";
import type { Slots } from "./slots.ts";

/** A run that this executor has claimed and not dropped: the run is playing, queued or parked. */
export type HeldRun = WokenRun & { fn: RegisteredFunction };

/**
 * The dependencies of a call. `isLeft`: whether this executor has to leave the run, because it is stopping or has lost
 * the run.
 */
export type CallScene = {
  registry: Registry;
  handler: FunctionHandler;
  slots: Slots;
  clock: EngineClock;
  backoff: Backoff;
  isLeft: (run: HeldRun) => boolean;
};

const emptyVerdict = (next: Verdict["next"]): Verdict => ({ steps: [], events: [], runs: [], next });

/**
 * Waits for a free slot, calls the run's function and evaluates the answer. With `stepId`, the call runs that planned
 * step; without it, the call continues the function.
 */
export async function callRun(
  { registry, handler, slots, clock, backoff, isLeft }: CallScene,
  run: HeldRun,
  snapshot: Snapshot,
  { attempt, stepId }: { attempt: number; stepId?: string },
): Promise<Verdict> {
  const { id: runId, functionId, epoch, event } = run;
  const { maxAttempts } = run.fn;
  const waitingStepIds = new Set(
    snapshot.steps.filter((step) => step.state === "pending").map((step) => step.stepId),
  );
  const release = await slots.acquire(run.fn, event);
  try {
    if (isLeft(run)) return emptyVerdict({ kind: "halted" });
    const call = {
      functionId,
      runId,
      ticket: `${runId}:${epoch}`,
      event,
      steps: snapshot.steps,
      attempt,
      maxAttempts,
      stepId,
    };
    const answer = await invokeFunction(handler, call, clock.wallNow);
    const verdict = classifyAnswer(answer, {
      runId,
      attempt,
      maxAttempts,
      waitingStepIds,
      backoff,
      nowMs: clock.now(),
      wallNowMs: clock.wallNow(),
    });
    const unknown = verdict.runs.find((invoked) => !registry.find(invoked.functionId));
    if (unknown) throw new Error(`The invoked function "${unknown.functionId}" is not registered.`);
    return verdict;
  } catch (error) {
    return emptyVerdict({ kind: "failed", error: toSerializedError(error) });
  } finally {
    release();
  }
}
