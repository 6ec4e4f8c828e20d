import { createDeadline } from "#lib/time/deadline.ts";
/** Thrown when no browser can be started now. The message is a sentence for the caller. */
export class NoBrowserError extends Error {}

/** The start of a browser. Several callers share it: tool calls, a person, and a client that selects a page. */
export type BrowserStart<Browser> = {
  /**
   * Waits for the browser.
   * @throws the signal's reason; NoBrowserError after `waitMs` without a place; the error of the start if the start
   * fails.
   */
  join: (signal?: AbortSignal) => Promise<Browser>;
  /** Whether the session waits for one of the limited places for running browsers. */
  isWaiting: () => boolean;
  /** Resolves when the session begins to wait for a place; stays pending if it does not have to wait. */
  queued: Promise<void>;
  /** Stops the wait for a place. Callers then get this error. Has no effect while the session does not wait. */
  giveUp: (error: Error) => void;
  /** Resolves when the start has succeeded or failed. */
  settled: Promise<void>;
};

/**
 * Shares one start among its callers. Each caller has its own signal and its own deadline of `waitMs`. If the last
 * caller leaves while the session waits for a place, `leaveLine` is called with that caller's error.
 */
export function shareStart<Browser>(deps: {
  browser: Promise<Browser>;
  isWaiting: () => boolean;
  queued: Promise<void>;
  leaveLine: (error: Error) => void;
  waitMs: number;
  /** Returns the error message for a caller that has waited `waitMs` without getting a place. */
  explainWait: () => string;
}): BrowserStart<Browser> {
  const { browser, isWaiting, queued, leaveLine, waitMs, explainWait } = deps;
  let callers = 0;
  browser.catch(() => {});

  return {
    isWaiting,
    queued,
    giveUp: leaveLine,
    settled: browser.then(
      () => {},
      () => {},
    ),
    async join(signal) {
      const { promise: left, reject } = Promise.withResolvers<never>();
      const timer = setTimeout(() => isWaiting() && reject(new NoBrowserError(explainWait())), waitMs);
      timer.unref();
      callers += 1;
      let reason = new Error("no caller waits for this browser any more");
      try {
        return await createDeadline({ signal }).race(Promise.race([left, browser]));
      } catch (error) {
        reason = toError(error);
        throw error;
      } finally {
        clearTimeout(timer);
        callers -= 1;
        if (callers === 0 && isWaiting()) leaveLine(reason);
      }
    },
  };
}

const toError = (reason: unknown): Error => (reason instanceof Error ? reason : new Error(String(reason)));
