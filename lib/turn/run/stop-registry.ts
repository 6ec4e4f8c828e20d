/** The reason of a cancellation. It also becomes the error of the run's deliverable. */
export const STOPPED_REASON = "the turn was stopped";

/** Holds the abort signal of each run that this process plays. */
export type StopRegistry = {
  /** Returns the signal of a run. It is created on first use and kept until {@link StopRegistry.forget}. */
  signalOf: (runId: string) => AbortSignal;
  /** Aborts a run's signal, if this process plays the run. */
  stop: (runId: string, reason: string) => void;
  /** Aborts every signal because the process ends. Stores nothing, so that the next process continues the runs. */
  shutDown: () => void;
  isShuttingDown: () => boolean;
  /** @throws ShutdownError if the process is ending. */
  throwIfShuttingDown: () => void;
  forget: (runId: string) => void;
};

/** Thrown when the process is ending. The executor that resumes the run repeats the interrupted step. */
export class ShutdownError extends Error {
  constructor() {
    super("the service is shutting down; the run goes on after the next start");
    this.name = "ShutdownError";
  }
}

/** Whether an error is a `ShutdownError`. */
export const isShutdown = (error: unknown): boolean =>
  error instanceof Error && error.name === "ShutdownError";

/** @see StopRegistry */
export function createStopRegistry(): StopRegistry {
  const controllers = new Map<string, AbortController>();
  let isShuttingDown = false;
  const obtain = (runId: string) => {
    const existing = controllers.get(runId);
    if (existing) return existing;
    const controller = new AbortController();
    if (isShuttingDown) controller.abort(new ShutdownError());
    controllers.set(runId, controller);
    return controller;
  };
  return {
    signalOf: (runId) => obtain(runId).signal,
    stop: (runId, reason) => controllers.get(runId)?.abort(new Error(reason)),
    shutDown() {
      isShuttingDown = true;
      for (const controller of controllers.values()) controller.abort(new ShutdownError());
    },
    isShuttingDown: () => isShuttingDown,
    throwIfShuttingDown() {
      if (isShuttingDown) throw new ShutdownError();
    },
    forget: (runId) => void controllers.delete(runId),
  };
}
