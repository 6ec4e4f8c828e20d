/** Why a run was cancelled, as its deliverable and its readers are told. */
export const STOPPED_REASON = "the turn was stopped";

/** The runs this process plays, and the way to stop each at once. */
export type StopRegistry = {
  /** The signal of a run; made on first use, kept until {@link StopRegistry.forget}. */
  signalOf: (runId: string) => AbortSignal;
  /** Fires a run's signal, if this process plays it. */
  stop: (runId: string, reason: string) => void;
  /** Fires every signal because the process ends: the runs are to go on in the next one, so nothing is recorded. */
  shutDown: () => void;
  isShuttingDown: () => boolean;
  /** @throws ShutdownError once the process is ending. */
  throwIfShuttingDown: () => void;
  forget: (runId: string) => void;
};

/** The process is ending: the step at hand is left to whoever resumes the run. */
export class ShutdownError extends Error {
  constructor() {
    super("the service is shutting down; the run goes on after the next start");
    this.name = "ShutdownError";
  }
}

/** Whether a step broke off because the process ends. */
export const isShutdown = (error: unknown): boolean =>
  error instanceof Error && error.name === "ShutdownError";

/** @see StopRegistry */
export function createStopRegistry(): StopRegistry {
  const controllers = new Map<string, AbortController>();
  let isShuttingDown = false;
  const obtain = (runId: string) => {
    const known = controllers.get(runId);
    if (known) return known;
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
