import type { Logger } from "#lib/log/logger.ts";
import type { OpenBrowser } from "../page/open-browser.ts";

/** Hands out browsers, with one kept warm so that a session need not wait for a start. */
type BrowserPool = {
  /** @throws Error with a sentence when no browser can be started. */
  take: () => Promise<OpenBrowser>;
  /** Starts the spare in the background where none waits. */
  warmUp: () => void;
  close: () => Promise<void>;
};

/** After a hand-over, the spare waits until the session's own page has had the processor. */
const REFILL_DELAY_MS = 2_000;

/** @see BrowserPool; `refillDelayMs` is undefined where no spare is to be kept. */
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
