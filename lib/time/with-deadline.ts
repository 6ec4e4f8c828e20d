/**
 * Runs `work` with a signal that aborts when `signal` does, or with a `TimeoutError` after `ms` milliseconds. The timer
 * and the listener are removed when the work ends. `AbortSignal.timeout` and `AbortSignal.any` are not used, because
 * they would keep the async context of the call in memory longer.
 */
export async function withDeadline<Result>(
  signal: AbortSignal,
  ms: number,
  work: (limited: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const limited = new AbortController();
  const stop = () => limited.abort(signal.reason);
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  const timer = setTimeout(() => limited.abort(new DOMException("The time is over.", "TimeoutError")), ms);
  timer.unref();
  try {
    return await work(limited.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}
