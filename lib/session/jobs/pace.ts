/** Tells whether rows that others renew at a fixed interval can be judged by their age. */
type Pace = {
  /** @param databaseMs the database's clock, read just now. */
  isSteady: (databaseMs: number) => boolean;
};

/**
 * Watches the database's clock against this process's monotonic one. After a gap (the process was suspended, the database
 * was away) or a jump of the database's clock, the age of a row says nothing about its owner: all owners first get the time
 * to renew.
 *
 * @param everyMs between two calls of `isSteady`.
 * @param settleMs how long the others get to renew.
 * @param monotonicMs a monotonic clock; tests bring their own.
 */
export function createPace(
  everyMs: number,
  settleMs: number,
  monotonicMs: () => number = () => performance.now(),
): Pace {
  let last: { ownMs: number; databaseMs: number } | undefined;
  let settledAtMs = Number.NEGATIVE_INFINITY;
  return {
    isSteady(databaseMs) {
      const ownMs = monotonicMs();
      if (last) {
        const passedMs = ownMs - last.ownMs;
        const isLate = passedMs > 2 * everyMs;
        const hasJumped = Math.abs(databaseMs - last.databaseMs - passedMs) > everyMs;
        if (isLate || hasJumped) settledAtMs = ownMs + settleMs;
      }
      last = { ownMs, databaseMs };
      return ownMs >= settledAtMs;
    },
  };
}
