/**
 * Runs work under a signal that fires with `signal`, and with a `TimeoutError` after `ms` milliseconds. The timer ends with
 * the work: that of `AbortSignal.timeout` would keep the whole context of the call in memory until its time.
 */
export async function withDeadline<Result>(
  signal: AbortSignal,
  ms: number,
  work: (limited: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new DOMException("The time is over.", "TimeoutError")), ms);
  timer.unref();
  try {
    return await work(AbortSignal.any([signal, late.signal]));
  } finally {
    clearTimeout(timer);
  }
}
