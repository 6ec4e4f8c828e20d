import type { EngineEvent } from "../embedded/protocol.ts";
import type { RegisteredFunction } from "../embedded/triggers/registry.ts";
import type { Call } from "./call-app.ts";

/** A function run in the memory of the stand-in. */
export type StandInRun = {
  id: string;
  fn: RegisteredFunction;
  event: EngineEvent;
  startedAtMs: number;
  state: "running" | "completed" | "failed" | "cancelled";
  output?: unknown;
  error?: unknown;
  /** Recorded results by hashed step id, in the order of recording. */
  steps: Map<string, unknown>;
  /** Steps that were planned or began to wait. They are not started again when the app reports them again. */
  begun: Set<string>;
  waits: Map<string, { eventName: string; matches: (event: EngineEvent) => boolean }>;
  /**
   * Set to true when the app plans parallel steps. Every later call of the function reports the next steps without
   * running them.
   */
  isParallel: boolean;
  calls: number;
};

/** An item of the queue: a run to continue, or (with `stepId`) one planned step of a run. */
export type QueueItem = {
  run: StandInRun;
  stepId: string | undefined;
  attempt: number;
  ticket: Call["ticket"];
};

/** Records a step's result, unless the step already has a result. */
export function recordStep(run: StandInRun, stepId: string, value: unknown): void {
  if (!run.steps.has(stepId)) run.steps.set(stepId, value);
}

export const isOpen = (run: StandInRun) => run.state === "running";
