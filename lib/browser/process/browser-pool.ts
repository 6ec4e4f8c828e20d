import type { Logger } from "#lib/log/logger.ts";
import type { OpenBrowser } from "../page/open-browser.ts";

/** Hands out browsers and keeps one warm, so that a session does not wait for a start. */
export type BrowserPool = {
  /** @throws Error with a sentence when no browser can be started. */
  take: () => Promise<OpenBrowser>;
  /** Starts the spare browser in the background if there is none. */
  warmUp: () => void;
  close: () => Promise<void>;
};

/** Delays the next spare browser, so that it does not compete with the session's own page for the processor. */
const REFILL_DELAY_MS = 2_000;

/** @see BrowserPool */
export function createBrowserPool(deps: {
  open: () => Promise<OpenBrowser>;
  keepSpare: boolean;
  logger: Logger;
}): BrowserPool {
  const { open, keepSpare, logger } = deps;
  let spare: Promise<OpenBrowser | undefined> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function warmUp(): void {
    if (spare || isClosed || !keepSpare) return;
    spare = open().catch((error) => {
      logger.debug({ err: error }, "no spare browser could be started");
      return undefined;
    });
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
      const taken = warm?.isOpen() ? warm : await open();
      refill();
      return taken;
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      const waiting = await spare;
      await waiting?.close();
    },
  };
}
