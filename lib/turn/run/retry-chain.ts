import type { ModelFailure } from "#lib/model/failure.ts";

const RUNS_MAX = 5;
const GROWTH = 4;
const WAIT_MAX_MS = 60_000;
const JITTER = 0.2;
/** A provider that asks for more is not waited for any longer. */
const RETRY_AFTER_MAX_MS = 24 * 3_600_000;

/**
 * When to try a failed run again, if at all: after 2, 8, 32 and 60 s (±20 %) at the default base, a `Retry-After`
 * counting as the least; five runs in all. Source: `wire.md`, Follow-ups.
 *
 * @param attempt of the run that failed, from 1.
 * @param chance a number from 0 to 1 that spreads the waits.
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
