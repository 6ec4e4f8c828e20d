/** When a failed attempt is made again; every delay counts from the end of the attempt before. */
export type RetrySchedule = {
  /** The delay after the first attempt. */
  baseMs: number;
  /** How much longer each further delay is. */
  factor: number;
  /** Share of a delay by which chance lengthens or shortens it. */
  jitter: number;
  /** How many times its length a delay may reach when the receiver asks for more with `Retry-After`. */
  stretchMax: number;
};

/** Finished attempts after which a delivery is dropped. Source: specification, Delivery semantics, rule 3. */
export const ATTEMPTS_MAX = 5;

/** 5, 25, 125, 625 s, each ±20 %. Source: `security.md`, What is never lost. */
export const standardSchedule: RetrySchedule = { baseMs: 5_000, factor: 5, jitter: 0.2, stretchMax: 2 };

/**
 * The delay before the next attempt, in milliseconds.
 *
 * @param finished how many attempts of this cycle have ended, from 1.
 * @param chance a number from 0 to 1 that places the delay within its jitter.
 * @param retryAfterMs what the receiver asked for, if anything.
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

/** The milliseconds that a `Retry-After` header asks for (seconds or an HTTP date); undefined when it says nothing. */
export function readRetryAfter(header: string | null, now: Date): number | undefined {
  const text = header?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  // A date of HTTP begins with the weekday; anything else that Date.parse takes is no Retry-After.
  const at = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now.getTime());
}
