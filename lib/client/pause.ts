/** Waits. @throws the signal's reason as soon as it fires. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const leave = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", leave);
      resolve();
    }, ms);
    signal?.addEventListener("abort", leave, { once: true });
  });
}

/** How long to wait before the next of several tries, in milliseconds: doubling up to 30 s, ±20 %, never less than asked for. */
export function backoff(failures: number, firstMs: number, askedMs = 0): number {
  const grown = Math.min(30_000, firstMs * 2 ** Math.max(0, failures - 1));
  return Math.max(askedMs, grown * (0.8 + 0.4 * Math.random()));
}
