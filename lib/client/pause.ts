/** The longest time of a timer. Runtimes fire a timer with a longer time at once. */
export const TIMER_MS_MAX = 2 ** 31 - 1;

/** Waits `ms` milliseconds. @throws the signal's reason as soon as the signal aborts. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener("abort", abort);
        resolve();
      },
      Math.min(ms, TIMER_MS_MAX),
    );
    signal?.addEventListener("abort", abort, { once: true });
  });
}

/**
 * Returns the delay before the next retry, in milliseconds. The delay starts at `firstMs`, doubles with each failure up
 * to 30 s, varies randomly by ±20 %, and is at least `minimumMs`.
 */
export function backoff(failures: number, firstMs: number, minimumMs = 0): number {
  const delayMs = Math.min(30_000, firstMs * 2 ** Math.max(0, failures - 1));
  return Math.max(minimumMs, delayMs * (0.8 + 0.4 * Math.random()));
}
