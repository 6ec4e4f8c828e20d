/** Time as the engine sees it: tests bring their own. */
export type EngineClock = {
  /** Milliseconds since the epoch; never jumps while the process lives, so that every wait takes its own length. */
  now: () => number;
  /** Milliseconds since the epoch by the machine's clock, which dates that functions name are relative to; it may jump. */
  wallNow: () => number;
  /** Calls back once after `delayMs`; the answer takes it back. */
  schedule: (callback: () => void, delayMs: number) => () => void;
};

/** Node keeps no longer delay in a timer. */
const LONGEST_DELAY_MS = 2_147_483_647;

/** The machine's time at the start of the process, carried on by its monotonic clock. */
const now = () => performance.timeOrigin + performance.now();

/** The clock of this process. Long delays are made of several timers; none keeps the process alive. */
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
