import type { Logger } from "#lib/log/logger.ts";
import { createRateLimiter, type RateLimiter, type RateLimits, type RateVerdict } from "./rate-limiter.ts";
import type { RateLease } from "./rate-store.ts";

const WINDOW_MS = 60_000;
const SUBJECTS_MAX = 10_000;
/** A process leases this share of a limit at once: fewer statements than calls, and little that lies unused. */
const SLICES = 20;

type LeasedRateLimiterDeps = {
  /** Leases calls of a bucket that all processes share. */
  lease: (name: string, limit: number, slice: number) => Promise<RateLease>;
  logger: Pick<Logger, "warn">;
  /** A monotonic clock, in milliseconds. */
  now?: () => number;
};

/** What this process holds of one bucket. */
type Share = {
  granted: number;
  /** Calls that the last lease left for others. */
  left: number;
  leasedAt: number;
  refusedUntil: number;
  leasing: Promise<void> | undefined;
};

/**
 * Creates the rate limiter of several processes on one database. Each process leases a slice of a limit and counts it
 * down in memory, so that a limit holds for the deployment and most calls cost no statement. While the database is out
 * of reach, every process applies the whole limit by itself.
 */
export function createLeasedRateLimiter(
  limits: RateLimits,
  { lease, logger, now = () => performance.now() }: LeasedRateLimiterDeps,
): RateLimiter {
  const alone = createRateLimiter(limits, now);
  const shares = new Map<string, Share>();
  let isAway = false;

  function findShare(name: string): Share {
    const share = shares.get(name) ?? {
      granted: 0,
      left: 0,
      leasedAt: 0,
      refusedUntil: 0,
      leasing: undefined,
    };
    // Deleted and set again, so that the map's order is that of last use.
    shares.delete(name);
    shares.set(name, share);
    if (shares.size > SUBJECTS_MAX) shares.delete(shares.keys().next().value ?? "");
    // The bucket has refilled since: a call that was not used in time would come on top of it.
    if (now() - share.leasedAt > WINDOW_MS) share.granted = 0;
    return share;
  }

  async function renew(name: string, limit: number, share: Share): Promise<void> {
    const { granted, left } = await lease(name, limit, Math.max(1, Math.floor(limit / SLICES)));
    share.granted += granted;
    share.left = left;
    share.leasedAt = now();
    if (granted === 0) share.refusedUntil = now() + ((1 - left) * WINDOW_MS) / limit;
    isAway = false;
  }

  function decide(limit: number, share: Share): RateVerdict | undefined {
    const isAllowed = share.granted >= 1;
    if (!isAllowed && now() >= share.refusedUntil) return undefined;
    if (isAllowed) share.granted -= 1;
    const remaining = isAllowed ? share.granted + share.left : 0;
    const missingMs = isAllowed ? ((limit - remaining) * WINDOW_MS) / limit : share.refusedUntil - now();
    return { isAllowed, limit, remaining: Math.floor(remaining), resetSeconds: Math.ceil(missingMs / 1_000) };
  }

  async function takeLeased(name: string, limit: number, share: Share): Promise<RateVerdict> {
    for (;;) {
      // Calls that arrive together wait for one lease.
      share.leasing ??= renew(name, limit, share).finally(() => {
        share.leasing = undefined;
      });
      await share.leasing;
      const verdict = decide(limit, share);
      if (verdict) return verdict;
    }
  }

  return {
    take(bucket, subject) {
      const limit = limits[bucket];
      if (limit === 0) return undefined;
      const name = `${bucket}/${subject}`;
      const share = findShare(name);
      return (
        decide(limit, share) ??
        takeLeased(name, limit, share).catch((error: unknown) => {
          if (!isAway)
            logger.warn({ err: error }, "rate limits are applied per process; the database is away");
          isAway = true;
          return alone.take(bucket, subject);
        })
      );
    },
  };
}
