type DeadlineOptions = {
  /** How much time there is, in milliseconds from now. Omit for a deadline that only `signal` brings about. */
  ms?: number;
  /** The caller's signal. The deadline ends when it aborts. */
  signal?: AbortSignal | undefined;
  /** Message of the error if the time is over. Without it, the error is a `TimeoutError`. */
  lateMessage?: string;
  /** Message of the error if `signal` aborts. Without it, the error is the reason of the signal. */
  stopMessage?: string;
  /**
   * Returns for how long programs of this machine have waited for a processor, in milliseconds since any moment. If it is
   * given, such time does not count, so that a busy machine is not taken for a program that does not answer. The deadline
   * still ends after at most four times `ms`.
   */
  readStalledMs?: () => number;
};

/**
 * A limit on how long to wait. It holds no timer and no listener of its own: each wait sets them, and removes them when
 * it ends.
 */
export type Deadline = {
  remainingMs: () => number;
  /**
   * Waits for work until the deadline ends. The work itself is not stopped; if it fails later, the failure is ignored.
   *
   * @param work a promise, or a function that starts the work; it is not called if the caller's signal has aborted.
   * @param onEnd returns the result if the deadline ends first. Without it, the wait fails with the reason of the end.
   */
  race: <Result, Otherwise = never>(
    work: PromiseLike<Result> | (() => PromiseLike<Result>),
    onEnd?: (reason: unknown) => Otherwise,
  ) => Promise<Result | Otherwise>;
  /** Waits until work settles or the deadline ends. @returns whether the work settled. Its failure is ignored. */
  settles: (work: PromiseLike<unknown>) => Promise<boolean>;
  /**
   * Runs work with a signal that aborts when the deadline ends, and waits for the work, which has to end then: for work
   * that may not, let it race the signal in a deadline of its own. The timer does not keep the process running.
   */
  run: <Result>(work: (signal: AbortSignal) => Promise<Result>) => Promise<Result>;
};

/** How many times as long a deadline can become on a busy machine. */
const STRETCH_MAX = 4;
/** Longer delays make a timer fire at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** Creates a deadline. Its time begins now. */
export function createDeadline(options: DeadlineOptions): Deadline {
  const { ms = Number.POSITIVE_INFINITY, signal, lateMessage, stopMessage, readStalledMs } = options;
  const beganAtMs = performance.now();
  const stalledBeforeMs = readStalledMs?.() ?? 0;
  const uncountedMs = () =>
    readStalledMs ? Math.min(readStalledMs() - stalledBeforeMs, ms * (STRETCH_MAX - 1)) : 0;
  const remainingMs = () => Math.max(0, beganAtMs + ms + uncountedMs() - performance.now());
  const lateError = () =>
    lateMessage === undefined
      ? new DOMException("The time is over.", "TimeoutError")
      : new Error(lateMessage);
  const stopReason = (stopped: AbortSignal): unknown =>
    stopMessage === undefined ? stopped.reason : new Error(stopMessage);

  /** Calls `onEnd` when the deadline ends. @returns a function that removes the timer and the listener. */
  function watch(onEnd: (reason: unknown) => void, keepsProcess: boolean): () => void {
    if (signal?.aborted) {
      onEnd(stopReason(signal));
      return () => {};
    }
    const end = (reason: unknown) => {
      unwatch();
      onEnd(reason);
    };
    const onAbort = () => end(signal && stopReason(signal));
    let timer: NodeJS.Timeout | undefined;
    const wait = () => {
      const leftMs = Math.ceil(remainingMs());
      if (leftMs > TIMER_MS_MAX) return;
      timer = setTimeout(() => (Math.floor(remainingMs()) > 0 ? wait() : end(lateError())), leftMs);
      if (!keepsProcess) timer.unref();
    };
    wait();
    // `AbortSignal.any` is not used, because it would keep the async context of the call in memory longer.
    signal?.addEventListener("abort", onAbort, { once: true });
    const unwatch = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    };
    return unwatch;
  }

  async function race<Result, Otherwise = never>(
    work: PromiseLike<Result> | (() => PromiseLike<Result>),
    onEnd: (reason: unknown) => Otherwise = fail,
  ): Promise<Result | Otherwise> {
    if (typeof work === "function" && signal?.aborted) return onEnd(stopReason(signal));
    const ended = Promise.withResolvers<{ reason: unknown }>();
    const unwatch = watch((reason) => ended.resolve({ reason }), true);
    const working = typeof work === "function" ? work : () => work;
    try {
      // `Promise.race` also handles the rejection of work that fails after the deadline.
      const first = await Promise.race([
        ended.promise,
        Promise.resolve(working()).then((value) => ({ value })),
      ]);
      return "value" in first ? first.value : onEnd(first.reason);
    } finally {
      unwatch();
    }
  }

  return {
    remainingMs,
    race,
    settles: (work) =>
      race(
        Promise.resolve(work).then(
          () => true,
          () => true,
        ),
        () => false,
      ),
    async run(work) {
      const limited = new AbortController();
      const unwatch = watch((reason) => limited.abort(reason), false);
      try {
        return await work(limited.signal);
      } finally {
        unwatch();
      }
    },
  };
}

function fail(reason: unknown): never {
  throw reason;
}
