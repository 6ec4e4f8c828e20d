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
  /** Recorded ends by hashed step id, in the order they came. */
  steps: Map<string, unknown>;
  /** Steps that were planned or wait, so that hearing of them again starts nothing. */
  begun: Set<string>;
  waits: Map<string, { eventName: string; matches: (event: EngineEvent) => boolean }>;
  /** Set once parallel steps were found: from then on steps are only planned. */
  isParallel: boolean;
  calls: number;
};

/** What the queue holds: a run to go on with, or one planned step of it. */
export type QueueItem = {
  run: StandInRun;
  stepId: string | undefined;
  attempt: number;
  ticket: Call["ticket"];
};

/** Records the end of a step unless it has one. */
export function recordStep(run: StandInRun, stepId: string, value: unknown): void {
  if (!run.steps.has(stepId)) run.steps.set(stepId, value);
}

export const isOpen = (run: StandInRun) => run.state === "running";
