import { createDeadline } from "#lib/time/deadline.ts";

const STOP_TIMEOUT_MS = 5_000;

/**
 * Repeats work at an interval, but never twice at the same time: if the work takes longer than the interval, the next
 * repetitions are left out. The timer does not keep the process alive.
 *
 * @param work must not reject.
 * @returns a function that ends the repetitions, and waits for the work in progress for up to 5 s, because a request to
 * an unreachable server may take longer.
 */
export function repeat(everyMs: number, work: () => Promise<unknown>): () => Promise<void> {
  let current: Promise<unknown> | undefined;
  const timer = setInterval(() => {
    current ??= work().finally(() => {
      current = undefined;
    });
  }, everyMs);
  timer.unref();
  return async () => {
    clearInterval(timer);
    if (current) await createDeadline({ ms: STOP_TIMEOUT_MS }).settles(current);
  };
}
