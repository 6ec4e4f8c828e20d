import type { RateBucket } from "../../contract/operation.ts";
import { type Failure, fail } from "../errors.ts";

/**
 * Calls that are allowed per minute in each bucket; 0 means unlimited. A bucket is a group of operations that share a
 * limit. Source: `configuration.md`, Variables, `RATE_LIMIT_CREATE`.
 */
export type RateLimits = Record<RateBucket, number>;

export type RateVerdict = { isAllowed: boolean; limit: number; remaining: number; resetSeconds: number };

export type RateLimiter = {
  /** Counts a call of a subject (a key, a share link, a session, or the sign-ins with a key). Undefined if the bucket is unlimited. */
  consume: (
    bucket: RateBucket,
    subject: string,
  ) => RateVerdict | undefined | Promise<RateVerdict | undefined>;
};

/** A rate limiter that keeps its state in memory and returns its verdict synchronously. */
type LocalRateLimiter = {
  consume: (bucket: RateBucket, subject: string) => RateVerdict | undefined;
};

const WINDOW_MS = 60_000;
const SUBJECTS_MAX = 10_000;

/**
 * Creates the rate limiter of a service with one process. It keeps one token bucket in memory for each bucket and
 * subject. An empty token bucket refills evenly to its limit within a minute.
 *
 * @param now a monotonic clock in milliseconds. It must never be set back. If it were set back by a minute, a bucket
 * would lose all tokens that it regains in a minute.
 */
export function createRateLimiter(
  limits: RateLimits,
  now: () => number = () => performance.now(),
): LocalRateLimiter {
  const buckets = new Map<string, { tokens: number; at: number }>();
  return {
    consume(bucket, subject) {
      const limit = limits[bucket];
      if (limit === 0) return undefined;
      const name = `${bucket}/${subject}`;
      const at = now();
      const existing = buckets.get(name) ?? { tokens: limit, at };
      const tokens = Math.min(limit, existing.tokens + ((at - existing.at) * limit) / WINDOW_MS);
      const isAllowed = tokens >= 1;
      const left = isAllowed ? tokens - 1 : tokens;
      // The entry is deleted and set again to keep the map in order of last use. When the map is full, its first entry
      // is evicted: the least recently used one.
      buckets.delete(name);
      buckets.set(name, { tokens: left, at });
      if (buckets.size > SUBJECTS_MAX) buckets.delete(buckets.keys().next().value ?? "");
      const missing = isAllowed ? limit - left : 1 - left;
      return {
        isAllowed,
        limit,
        remaining: Math.floor(left),
        resetSeconds: Math.ceil((missing * WINDOW_MS) / limit / 1_000),
      };
    },
  };
}

/** Creates the refusal of a call over its rate. */
export const refuseOverRate = (verdict: RateVerdict): Failure =>
  fail(
    "rate_limited",
    `too many requests; try again in ${Math.max(1, verdict.resetSeconds)} s`,
    rateHeaders(verdict),
  );

/** Returns the `RateLimit-*` headers of a response, and `Retry-After` if the call was refused. */
export const rateHeaders = (verdict: RateVerdict): Record<string, string> => ({
  "RateLimit-Limit": String(verdict.limit),
  "RateLimit-Remaining": String(verdict.remaining),
  "RateLimit-Reset": String(verdict.resetSeconds),
  ...(!verdict.isAllowed && { "Retry-After": String(Math.max(1, verdict.resetSeconds)) }),
});
