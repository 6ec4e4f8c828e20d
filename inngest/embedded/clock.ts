/** The clock by which the engine measures time. Tests use a manual clock. */
export type EngineClock = {
  /** Milliseconds since the epoch. Never jumps while the process runs, so a wait lasts exactly as long as requested. */
  now: () => number;
  /** Milliseconds since the epoch on the machine's clock, which may jump. Functions compute dates from this clock. */
  wallNow: () => number;
  /** Calls back once after `delayMs`. @returns a function that cancels the callback. */
  schedule: (callback: () => void, delayMs: number) => () => void;
};

/** The longest delay that a timer of Node supports. */
const LONGEST_DELAY_MS = 2_147_483_647;

/** Returns the machine's time at the start of the process, plus the monotonic time since the start. */
const now = () => performance.timeOrigin + performance.now();

/**
 * The clock of this process. A long delay uses several timers, one after the other. No timer keeps the process alive.
 */
export const systemClock: EngineClock = {
  now,
  wallNow: () => Date.now(),
  schedule(callback, delayMs) {
    const dueAt = now() + delayMs;
    let timer: NodeJS.Timeout;
    const arm = (remainingMs: number) => {
      const next = remainingMs > LONGEST_DELAY_MS ? () => arm(dueAt - now()) : callback;
      timer = setTimeout(next, Math.min(Math.max(0, remainingMs), LONGEST_DELAY_MS));
      timer.unref();
    };
    arm(delayMs);
    return () => clearTimeout(timer);
  },
};
