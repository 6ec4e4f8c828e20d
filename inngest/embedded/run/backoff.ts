/** The delay before a failed attempt is repeated, in ms; `attempt` is 0 for the first one. */
export type Backoff = (attempt: number) => number;

const BASE_MS = 1_000;
const LONGEST_MS = 10 * 60_000;

/**
 * Creates a backoff that doubles from one second to ten minutes. Because of a jitter of 25 percent, runs that failed
 * together are not retried together. The real server starts with 15 to 45 seconds; on one machine, most failures are over
 * sooner.
 */
export function createBackoff(random: () => number = Math.random): Backoff {
  return (attempt) => Math.min(LONGEST_MS, BASE_MS * 2 ** attempt) * (0.75 + random() / 2);
}
