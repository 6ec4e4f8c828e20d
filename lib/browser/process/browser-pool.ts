import type { Logger } from "#lib/log/logger.ts";
import type { OpenBrowser } from "../page/open-browser.ts";

/** Hands out browsers and keeps a spare one running, so that a session does not wait for a start. */
export type BrowserPool = {
  /** Returns the spare browser, or starts one. @throws Error with a readable message when no browser can be started. */
  take: () => Promise<OpenBrowser>;
  /**
   * Starts the spare browser in the background if there is none. Does nothing if `keepSpare` is false. If no session
   * takes the spare, it is closed about 5 minutes after the last call of `warmUp` or `take`.
   */
  warmUp: () => void;
  close: () => Promise<void>;
};

const SPARE_IDLE_MS = 5 * 60_000;
/**
 * How long the pool waits before it starts another spare browser. The start must not compete for the processor with the
 * page of the session that took the previous spare.
 */
const REFILL_DELAY_MS = 2_000;

/** @see BrowserPool */
export function createBrowserPool(deps: {
  open: () => Promise<OpenBrowser>;
  keepSpare: boolean;
  logger: Logger;
  spareIdleMs?: number;
}): BrowserPool {
  const { open, keepSpare, logger, spareIdleMs = SPARE_IDLE_MS } = deps;
  let spare: Promise<OpenBrowser | undefined> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let idleTimer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function warmUp(): void {
    if (isClosed || !keepSpare) return;
    clearTimeout(idleTimer);
    idleTimer = setTimeout(closeSpare, spareIdleMs);
    idleTimer.unref();
    spare ??= openSpare();
  }
  function openSpare(): Promise<OpenBrowser | undefined> {
    const opening = open().catch((error) => {
      logger.debug({ err: error }, "no spare browser could be started");
      // The next `warmUp` tries again.
      if (spare === opening) spare = undefined;
      return undefined;
    });
    return opening;
  }
  function closeSpare(): void {
    const idle = spare;
    spare = undefined;
    idle
      ?.then((browser) => browser?.close())
      .catch((error) => logger.warn({ err: error }, "the spare browser could not be closed"));
  }
  function refill(): void {
    clearTimeout(timer);
    timer = setTimeout(warmUp, REFILL_DELAY_MS);
    timer.unref();
  }

  return {
    warmUp,
    async take() {
      const waiting = spare;
      spare = undefined;
      const warm = await waiting;
      const browser = warm?.isOpen() ? warm : await open();
      refill();
      return browser;
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      clearTimeout(idleTimer);
      const waiting = await spare;
      await waiting?.close();
    },
  };
}
