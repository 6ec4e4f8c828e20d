/** A budget of bytes that concurrent requests share. */
export type BodyBudget = {
  /**
   * Reserves bytes. Waiting reservations are served in the order of their calls.
   *
   * @returns a function that releases the bytes; undefined if the wait took too long or the signal was aborted.
   */
  reserve: (bytes: number, signal: AbortSignal) => Promise<(() => void) | undefined>;
};

type Waiting = { bytes: number; admit: () => void };

/** Creates a budget. A reservation that is larger than the budget reserves the whole budget. */
export function createBodyBudget(options: { bytes: number; waitMs: number }): BodyBudget {
  let free = options.bytes;
  const waiting = new Set<Waiting>();

  function admitNext(): void {
    for (const next of waiting) {
      if (next.bytes > free) return;
      free -= next.bytes;
      waiting.delete(next);
      next.admit();
    }
  }
  function releaseOnce(bytes: number): () => void {
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      free += bytes;
      admitNext();
    };
  }

  return {
    reserve(requested, signal) {
      const bytes = Math.min(requested, options.bytes);
      const { promise, resolve } = Promise.withResolvers<(() => void) | undefined>();
      const giveUp = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", giveUp);
        if (waiting.delete(entry)) resolve(undefined);
        admitNext();
      };
      const entry: Waiting = {
        bytes,
        admit() {
          clearTimeout(timer);
          signal.removeEventListener("abort", giveUp);
          resolve(releaseOnce(bytes));
        },
      };
      const timer = setTimeout(giveUp, options.waitMs);
      signal.addEventListener("abort", giveUp);
      waiting.add(entry);
      if (signal.aborted) giveUp();
      else admitNext();
      return promise;
    },
  };
}
