/** Time as the engine sees it: tests bring their own. */
export type EngineClock = {
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Calls back once after `delayMs`; the answer takes it back. */
  schedule: (callback: () => void, delayMs: number) => () => void;
};

/** Node keeps no longer delay in a timer. */
const LONGEST_DELAY_MS = 2_147_483_647;

/** The machine's clock. Long delays are made of several timers; none keeps the process alive. */
export const systemClock: EngineClock = {
  now: () => Date.now(),
  schedule(callback, delayMs) {
    const dueAt = Date.now() + delayMs;
    let timer: NodeJS.Timeout;
    const arm = (remainingMs: number) => {
      const next = remainingMs > LONGEST_DELAY_MS ? () => arm(dueAt - Date.now()) : callback;
      timer = setTimeout(next, Math.min(Math.max(0, remainingMs), LONGEST_DELAY_MS));
      timer.unref();
    };
    arm(delayMs);
    return () => clearTimeout(timer);
  },
};
