/** How long to wait before a failed attempt is repeated, in ms; `attempt` is 0 for the first that failed. */
export type Backoff = (attempt: number) => number;

const BASE_MS = 1_000;
const LONGEST_MS = 10 * 60_000;

/**
 * Doubles from one second to ten minutes, spread by a quarter either way so that runs that failed together part. The
 * real server's table begins with 15 to 45 seconds; on one machine what failed is sooner well again.
 */
export function createBackoff(random: () => number = Math.random): Backoff {
  return (attempt) => Math.min(LONGEST_MS, BASE_MS * 2 ** attempt) * (0.75 + random() / 2);
}
