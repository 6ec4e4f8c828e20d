import type { Logger } from "#lib/log/logger.ts";
import type { OpenBrowser } from "../page/open-browser.ts";
import type { ChromiumUse } from "./browser-provider.ts";

/** Hands out browsers and keeps a spare one running, so that a session does not wait for a start. */
export type BrowserPool = {
  /**
   * Returns the spare browser, or starts one. If the owner has a Chromium with room for another session, opens the
   * browser there instead.
   *
   * @param owner see `ChromiumUse.owner`. @throws Error with a readable message when no browser can be started.
   */
  take: (owner: string | undefined) => Promise<OpenBrowser>;
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
  open: (use: ChromiumUse) => Promise<OpenBrowser>;
  /** Whether a Chromium of this owner has room for another session. */
  hasRoom: (owner: string | undefined) => boolean;
  keepSpare: boolean;
  logger: Logger;
  spareIdleMs?: number;
}): BrowserPool {
  const { open, hasRoom, keepSpare, logger, spareIdleMs = SPARE_IDLE_MS } = deps;
  let spare: { use: ChromiumUse; opening: Promise<OpenBrowser | undefined> } | undefined;
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
  function openSpare() {
    const use = newUse(undefined);
    const opening = open(use).catch((error) => {
      logger.debug({ err: error }, "no spare browser could be started");
      // The next `warmUp` tries again.
      if (spare === opened) spare = undefined;
      return undefined;
    });
    const opened = { use, opening };
    return opened;
  }
  function closeSpare(): void {
    const idle = spare;
    spare = undefined;
    idle?.opening
      .then((browser) => browser?.close())
      .catch((error) => logger.warn({ err: error }, "the spare browser could not be closed"));
  }
  function refill(): void {
    clearTimeout(timer);
    timer = setTimeout(warmUp, REFILL_DELAY_MS);
    timer.unref();
  }

  return {
    warmUp,
    async take(owner) {
      if (hasRoom(owner)) return open(newUse(owner));
      const taken = spare;
      spare = undefined;
      // From now on, other sessions of the owner can join the spare's Chromium.
      if (taken) taken.use.owner = owner;
      const warm = await taken?.opening;
      const browser = warm?.isOpen() ? warm : await open(newUse(owner));
      refill();
      return browser;
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      clearTimeout(idleTimer);
      const waiting = await spare?.opening;
      await waiting?.close();
    },
  };
}

const newUse = (owner: string | undefined): ChromiumUse => ({ owner, sessions: 0 });
