import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";

/** Share of the event loop's time that the messages of one script may use. */
const SHARE = 0.2;
/** Time that the messages of a script may use beyond the share, before they have to wait. */
const BURST_MS = 200;
/** After this much work without a break, other work gets a turn. */
const TURN_MS = 5;

/** Limits how much of the event loop's time one script uses. */
type LoopShare = {
  /** Records that work for the script took this long. */
  charge: (ms: number) => void;
  /** Waits until the script may use the event loop again. Undefined if it may now. */
  rest: () => Promise<void> | undefined;
};

type Clock = { now: () => number; pause: (ms: number) => Promise<unknown>; nextTurn: () => Promise<unknown> };
const CLOCK: Clock = { now: () => performance.now(), pause, nextTurn };

/**
 * Creates the share of one script. A script that sends its messages one after the other does not notice it; one that
 * floods the service leaves most of the time to other work.
 */
export function createLoopShare(clock: Clock = CLOCK): LoopShare {
  let creditMs = BURST_MS;
  let atMs = clock.now();
  let sinceTurnMs = 0;
  return {
    charge(ms) {
      const nowMs = clock.now();
      creditMs = Math.min(BURST_MS, creditMs + (nowMs - atMs) * SHARE) - ms;
      atMs = nowMs;
      sinceTurnMs += ms;
    },
    rest() {
      if (creditMs >= 0 && sinceTurnMs < TURN_MS) return undefined;
      sinceTurnMs = 0;
      return (creditMs < 0 ? clock.pause(-creditMs / SHARE) : clock.nextTurn()).then(() => {});
    },
  };
}
