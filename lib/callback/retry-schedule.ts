/** The delays between attempts; each delay starts at the end of the failed attempt. */
export type RetrySchedule = {
  /** The delay after the first attempt. */
  baseMs: number;
  /** The factor by which each delay is longer than the one before. */
  factor: number;
  /** The largest share of a delay by which the delay is randomly lengthened or shortened. */
  jitter: number;
  /** The maximum factor by which a receiver can lengthen a delay with `Retry-After`. */
  stretchMax: number;
};

/** The number of attempts after which a delivery is dropped. Source: specification, Delivery semantics, rule 3. */
export const ATTEMPTS_MAX = 5;

/** Delays of 5, 25, 125 and 625 s, each ±20 %. Source: `security.md`, What is never lost. */
export const standardSchedule: RetrySchedule = { baseMs: 5_000, factor: 5, jitter: 0.2, stretchMax: 2 };

/**
 * Computes the delay before the next attempt, in milliseconds.
 *
 * @param finished the number of ended attempts of this cycle, from 1.
 * @param chance a random number from 0 to 1 that determines the jitter.
 * @param retryAfterMs the delay that the receiver asked for, if any.
 */
export function retryDelayMs(
  schedule: RetrySchedule,
  finished: number,
  chance: number,
  retryAfterMs = 0,
): number {
  const plainMs = schedule.baseMs * schedule.factor ** (finished - 1);
  const jitteredMs = plainMs * (1 + schedule.jitter * (2 * chance - 1));
  return Math.round(Math.max(jitteredMs, Math.min(retryAfterMs, plainMs * schedule.stretchMax)));
}

/** Parses a `Retry-After` header (seconds or an HTTP date) to milliseconds; undefined if it is absent or invalid. */
export function readRetryAfter(header: string | null, now: Date): number | undefined {
  const text = header?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  // `Date.parse` also accepts texts that are no HTTP dates, so the text must begin with a weekday.
  const at = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now.getTime());
}
