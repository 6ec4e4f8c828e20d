/** The reason of a cancellation. It also becomes the error of the run's deliverable. */
export const STOPPED_REASON = "the turn was stopped";

/** Holds the abort signal of each run that this process plays. */
export type StopRegistry = {
  /** Calls `play` with the signal of a run. Plays of the same run that overlap get the same signal. */
  withSignal: <Result>(runId: string, play: (signal: AbortSignal) => Promise<Result>) => Promise<Result>;
  /** Aborts a run's signal, if this process plays the run. */
  stop: (runId: string, reason: string) => void;
  /** Begins no more plays and steps because the process ends. The steps that are being played may end. */
  drain: () => void;
  /** Aborts every signal because the process ends. Stores nothing, so that the next process continues the runs. */
  shutDown: () => void;
  isShuttingDown: () => boolean;
  /** @throws ShutdownError if the process is ending. */
  throwIfShuttingDown: () => void;
};

/** Thrown when the process is ending. The executor that resumes the run repeats the interrupted step. */
export class ShutdownError extends Error {
  constructor() {
    super("the service is shutting down; the run continues after the next start");
    this.name = "ShutdownError";
  }
}

/** Whether an error is a `ShutdownError`. */
export const isShutdown = (error: unknown): boolean =>
  error instanceof Error && error.name === "ShutdownError";

/** @see StopRegistry */
export function createStopRegistry(): StopRegistry {
  const played = new Map<string, { controller: AbortController; plays: number }>();
  let isShuttingDown = false;
  return {
    async withSignal(runId, play) {
      const entry = played.get(runId) ?? { controller: new AbortController(), plays: 0 };
      played.set(runId, entry);
      entry.plays++;
      if (isShuttingDown) entry.controller.abort(new ShutdownError());
      try {
        return await play(entry.controller.signal);
      } finally {
        entry.plays--;
        if (entry.plays === 0) played.delete(runId);
      }
    },
    stop: (runId, reason) => played.get(runId)?.controller.abort(new Error(reason)),
    drain() {
      isShuttingDown = true;
    },
    shutDown() {
      isShuttingDown = true;
      for (const { controller } of played.values()) controller.abort(new ShutdownError());
    },
    isShuttingDown: () => isShuttingDown,
    throwIfShuttingDown() {
      if (isShuttingDown) throw new ShutdownError();
    },
  };
}
