import type { Logger } from "#lib/log/logger.ts";
import { createRateLimiter, type RateLimiter, type RateLimits, type RateVerdict } from "./rate-limiter.ts";
import type { RateLease } from "./rate-store.ts";

const WINDOW_MS = 60_000;
const SUBJECTS_MAX = 10_000;
/**
 * A process leases 1/SLICES of a limit at once. A larger lease saves statements; a smaller one leaves fewer leased
 * calls unused.
 */
const SLICES = 20;

type LeasedRateLimiterDeps = {
  /** Takes calls from a bucket that all processes share. */
  lease: (name: string, limit: number, slice: number) => Promise<RateLease>;
  logger: Pick<Logger, "warn">;
  /** A monotonic clock, in milliseconds. */
  now?: () => number;
};

/** What this process has leased from one bucket. Times are values of `now()`. */
type Share = {
  /** Leased calls that are not used yet. */
  granted: number;
  /** Calls that remained in the bucket for all processes after the last lease. */
  left: number;
  leasedAt: number;
  refusedUntil: number;
  /** Set while a lease is being requested. */
  leasing: Promise<void> | undefined;
};

/**
 * Creates the rate limiter of a deployment with several processes on one database. Each process leases a small part of
 * a limit and counts the leased calls in memory. The limit therefore holds for the whole deployment, and most calls
 * need no statement. While the database is unreachable, each process applies the full limit on its own.
 */
export function createLeasedRateLimiter(
  limits: RateLimits,
  { lease, logger, now = () => performance.now() }: LeasedRateLimiterDeps,
): RateLimiter {
  const fallback = createRateLimiter(limits, now);
  const shares = new Map<string, Share>();
  let isUnreachable = false;

  function findShare(name: string): Share {
    const share = shares.get(name) ?? {
      granted: 0,
      left: 0,
      leasedAt: 0,
      refusedUntil: 0,
      leasing: undefined,
    };
    // The entry is deleted and set again to keep the map in order of last use. When the map is full, its first entry is
    // evicted: the least recently used one.
    shares.delete(name);
    shares.set(name, share);
    if (shares.size > SUBJECTS_MAX) shares.delete(shares.keys().next().value ?? "");
    // Leased calls that are still unused after one minute expire. By then the bucket has refilled completely, so these
    // calls would exceed the limit.
    if (now() - share.leasedAt > WINDOW_MS) share.granted = 0;
    return share;
  }

  async function renew(name: string, limit: number, share: Share): Promise<void> {
    const { granted, left } = await lease(name, limit, Math.max(1, Math.floor(limit / SLICES)));
    share.granted += granted;
    share.left = left;
    share.leasedAt = now();
    if (granted === 0) share.refusedUntil = now() + ((1 - left) * WINDOW_MS) / limit;
    isUnreachable = false;
  }

  function decide(limit: number, share: Share): RateVerdict | undefined {
    const isAllowed = share.granted >= 1;
    if (!isAllowed && now() >= share.refusedUntil) return undefined;
    if (isAllowed) share.granted -= 1;
    const remaining = isAllowed ? share.granted + share.left : 0;
    const missingMs = isAllowed ? ((limit - remaining) * WINDOW_MS) / limit : share.refusedUntil - now();
    return { isAllowed, limit, remaining: Math.floor(remaining), resetSeconds: Math.ceil(missingMs / 1_000) };
  }

  async function consumeLeased(name: string, limit: number, share: Share): Promise<RateVerdict> {
    for (;;) {
      // Concurrent calls share one lease.
      share.leasing ??= renew(name, limit, share).finally(() => {
        share.leasing = undefined;
      });
      await share.leasing;
      const verdict = decide(limit, share);
      if (verdict) return verdict;
    }
  }

  return {
    consume(bucket, subject) {
      const limit = limits[bucket];
      if (limit === 0) return undefined;
      const name = `${bucket}/${subject}`;
      const share = findShare(name);
      return (
        decide(limit, share) ??
        consumeLeased(name, limit, share).catch((error: unknown) => {
          if (!isUnreachable)
            logger.warn(
              { err: error },
              "rate limits are applied per process because the database is unreachable",
            );
          isUnreachable = true;
          return fallback.consume(bucket, subject);
        })
      );
    },
  };
}
