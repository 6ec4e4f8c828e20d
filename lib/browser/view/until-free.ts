/** What is known of the control of browsers. */
type Control = {
  /** Undefined if no person has control of the session's browser. */
  holderOf: (sessionId: string) => string | undefined;
  /** @returns a function that ends the calls of the listener. */
  follow: (sessionId: string, listener: () => void) => () => void;
};

/**
 * Waits until no person has control of a session's browser.
 * @returns whether it is free; false if the time is over or the signal fires first.
 */
export async function untilFree(
  { holderOf, follow }: Control,
  sessionId: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const isFree = () => holderOf(sessionId) === undefined;
  if (isFree()) return true;
  if (signal.aborted) return false;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const stopFollowing = follow(sessionId, () => isFree() && resolve(true));
  const timer = setTimeout(() => resolve(false), timeoutMs);
  const onAbort = () => resolve(false);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await promise;
  } finally {
    stopFollowing();
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}
