import type { ModelFailure } from "#lib/model/failure.ts";

const RUNS_MAX = 5;
const GROWTH = 4;
const WAIT_MAX_MS = 60_000;
const JITTER = 0.2;
/** The longest delay that `Retry-After` can cause. If it asks for more, the run is retried after this time. */
const RETRY_AFTER_MAX_MS = 24 * 3_600_000;

/**
 * Computes the delay before a failed run is retried; undefined if the run is not retried. With the default base, the
 * delays are 2, 8, 32 and 60 s (±20 %). If `Retry-After` asks for a longer delay, that delay is used. There are at most
 * five runs, including the first. Source: `wire.md`, Follow-ups.
 *
 * @param attempt the number of the attempt that failed, from 1.
 * @param chance a random number from 0 to 1 that spreads the delays.
 */
export function planRetry(
  failure: ModelFailure,
  attempt: number,
  baseMs: number,
  chance: number,
): { delayMs: number } | undefined {
  if (!failure.isRetryable || attempt >= RUNS_MAX) return undefined;
  const waitMs = Math.min(baseMs * GROWTH ** (attempt - 1), WAIT_MAX_MS);
  const spreadMs = Math.round(waitMs * (1 - JITTER + 2 * JITTER * chance));
  return { delayMs: Math.max(spreadMs, Math.min(failure.retryAfterMs ?? 0, RETRY_AFTER_MAX_MS)) };
}
