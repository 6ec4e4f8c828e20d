/**
 * Waits for work, but only for a limited time. The work itself is not stopped. If it fails later, the failure is ignored.
 *
 * @param timeoutMs the limit in milliseconds.
 * @param message the message of the error if the time is over.
 * @throws Error if the time is over; otherwise the error of the work.
 */
export async function withinTime<Result>(
  work: Promise<Result>,
  timeoutMs: number,
  message: string,
): Promise<Result> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(message)), timeoutMs);
  try {
    // A promise whose race is over does not cause an unhandled rejection.
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits until work settles, but only for `timeoutMs` milliseconds. A failure of the work is ignored. */
export async function untilSettled(work: Promise<unknown>, timeoutMs: number): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, timeoutMs);
  await Promise.race([work.catch(() => {}), late.promise]);
  clearTimeout(timer);
}
