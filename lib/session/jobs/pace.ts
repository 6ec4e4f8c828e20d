/** Tells whether the age of a row can be trusted. The owner of the row, another process, renews it at a fixed interval. */
type Pace = {
  /** @param databaseMs the current time of the database's clock, in milliseconds. */
  isSteady: (databaseMs: number) => boolean;
};

/**
 * Compares the database's clock with this process's monotonic clock. After a gap (the process was suspended or the database
 * was unreachable) or a jump of the database's clock, the age of a row cannot be trusted until its owner has had time to
 * renew it.
 *
 * @param everyMs expected interval between two calls of `isSteady`.
 * @param settleMs time that owners get to renew their rows.
 * @param monotonicMs a monotonic clock in milliseconds.
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
