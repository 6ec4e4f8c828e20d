/**
 * Runs work under a signal that fires with `signal`, and with a `TimeoutError` after `ms` milliseconds. Nothing is left of
 * it when the work ends: the timer of `AbortSignal.timeout`, and a signal of `AbortSignal.any` that has listeners, would
 * keep the whole context of the call in memory.
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
