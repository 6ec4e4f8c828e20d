import type { Logger } from "#lib/log/logger.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import { withOverlayHidden } from "../overlay/hide-overlay.ts";
import type { OpenBrowser } from "../page/open-browser.ts";

/** Takes and stores pictures of one session's page. People see the latest picture while no browser runs. */
export type PictureKeeper = {
  /**
   * Takes a picture after 3 s if the page is unused then. The picture is available even if the browser crashes later.
   */
  keepSoon: () => void;
  /**
   * Takes a picture now. Never rejects. The earlier picture stays if the page does not answer in time, or if its
   * address is not http(s).
   */
  keep: (browser: OpenBrowser) => Promise<void>;
};

const QUIET_MS = 3_000;
const CAPTURE_TIMEOUT_MS = 3_000;
const JPEG_QUALITY = 70;

export type PictureKeeperDeps = {
  /** Stores the picture, a JPEG. */
  store: (bytes: Uint8Array) => Promise<void>;
  /** Whether no picture may be taken now, because a person works in the page during a handover. */
  isPrivate: () => boolean;
  sessionId: string;
  logger: Logger;
  /** Returns the running browser if it is not in use. */
  findIdle: () => OpenBrowser | undefined;
  /** Hides the overlay of the page. @returns a function that shows it again. */
  hideOverlay: (browser: OpenBrowser) => Promise<() => void>;
};

/** @see PictureKeeper */
export function createPictureKeeper(deps: PictureKeeperDeps): PictureKeeper {
  const { store, isPrivate, sessionId, logger, findIdle, hideOverlay } = deps;
  let timer: NodeJS.Timeout | undefined;
  let queue: Promise<void> = Promise.resolve();

  async function keep(browser: OpenBrowser): Promise<void> {
    try {
      if (isPrivate()) return;
      const bytes = await capture(browser, hideOverlay);
      // A handover may have begun meanwhile.
      if (bytes && !isPrivate()) await store(bytes);
    } catch (error) {
      logger.debug({ sessionId, err: error }, "the page's last picture was not stored");
    }
  }
  function enqueue(browser: OpenBrowser): Promise<void> {
    clearTimeout(timer);
    queue = queue.then(() => keep(browser));
    return queue;
  }

  return {
    keep: enqueue,
    keepSoon() {
      clearTimeout(timer);
      timer = setTimeout(() => {
        const idle = findIdle();
        if (idle) void enqueue(idle);
      }, QUIET_MS).unref();
    },
  };
}

/**
 * Captures the viewport as JPEG, without the overlay. Returns undefined if the browser shows no http(s) page.
 * @throws if the page does not answer.
 */
async function capture(
  browser: OpenBrowser,
  hideOverlay: PictureKeeperDeps["hideOverlay"],
): Promise<Uint8Array | undefined> {
  const { page, cdp } = browser.selected();
  if (!/^https?:/.test(page.url())) return undefined;
  const picture = withOverlayHidden({ hideOverlay: () => hideOverlay(browser) }, () =>
    cdp.send("Page.captureScreenshot", { format: "jpeg", quality: JPEG_QUALITY, optimizeForSpeed: true }),
  );
  const { data } = await createDeadline({
    ms: CAPTURE_TIMEOUT_MS,
    lateMessage: "the page did not answer",
  }).race(picture);
  return Buffer.from(data, "base64");
}
