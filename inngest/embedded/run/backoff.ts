/** Computes the delay before a failed attempt is repeated, in ms. `attempt` is 0 for the first attempt. */
export type Backoff = (attempt: number) => number;

const BASE_MS = 1_000;
const LONGEST_MS = 10 * 60_000;

/**
 * Creates a backoff that doubles from one second to ten minutes. A jitter of 25 percent spreads the retries of runs
 * that failed together. An Inngest server starts with 15 to 45 seconds; this engine starts sooner, because on one
 * machine most failures are short.
 */
export function createBackoff(random: () => number = Math.random): Backoff {
  return (attempt) => Math.min(LONGEST_MS, BASE_MS * 2 ** attempt) * (0.75 + random() / 2);
}
