/**
 * Tells whether the age of a row is reliable evidence. A process renews its rows at a fixed interval, so an old row
 * suggests that its process has ended.
 */
type Pace = {
  /**
   * Whether the age of rows can be trusted now. @param databaseMs the current time of the database's clock, in
   * milliseconds.
   */
  isSteady: (databaseMs: number) => boolean;
};

/**
 * Compares the database's clock with this process's monotonic clock. A row may look too old after this process was
 * suspended, the database was unreachable, or the database's clock jumped. The pace is then not steady until the owners
 * of all rows have had time to renew them.
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
