import type { Database } from "#db/client.ts";
import type { Logger } from "#lib/log/logger.ts";
import { withOverlayHidden } from "../overlay/hide-overlay.ts";
import type { OpenBrowser } from "../page/open-browser.ts";
import { writePicture } from "./picture-store.ts";

/** Keeps the last picture of one session's page, which is shown while no browser runs. */
export type PictureKeeper = {
  /** Takes a picture once the page has not been used for a moment, so that a crash does not lose it. */
  keepSoon: () => void;
  /** Takes a picture now. Never rejects; a page that does not answer in time leaves the earlier picture in place. */
  keep: (taken: OpenBrowser) => Promise<void>;
};

const QUIET_MS = 3_000;
const CAPTURE_TIMEOUT_MS = 3_000;
const JPEG_QUALITY = 70;

export type PictureKeeperDeps = {
  db: Database;
  sessionId: string;
  logger: Logger;
  /** The browser that is up; undefined while it is in use. */
  findIdle: () => OpenBrowser | undefined;
  /** Removes the overlay from the page. @returns brings it back. */
  hideOverlay: (taken: OpenBrowser) => Promise<() => void>;
};

/** @see PictureKeeper */
export function createPictureKeeper(deps: PictureKeeperDeps): PictureKeeper {
  const { db, sessionId, logger, findIdle, hideOverlay } = deps;
  let timer: NodeJS.Timeout | undefined;
  let queue: Promise<void> = Promise.resolve();

  async function keep(taken: OpenBrowser): Promise<void> {
    try {
      const bytes = await capture(taken, hideOverlay);
      if (bytes) await writePicture(db, sessionId, { mediaType: "image/jpeg", bytes });
    } catch (error) {
      logger.debug({ sessionId, err: error }, "the page's last picture was not kept");
    }
  }
  function enqueue(taken: OpenBrowser): Promise<void> {
    clearTimeout(timer);
    queue = queue.then(() => keep(taken));
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

/** A JPEG of what is in view, without the overlay; undefined for an empty page. @throws when the page does not answer. */
async function capture(
  taken: OpenBrowser,
  hideOverlay: PictureKeeperDeps["hideOverlay"],
): Promise<Uint8Array | undefined> {
  const { page, cdp } = taken.selected();
  if (!/^https?:/.test(page.url())) return undefined;
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error("the page did not answer")), CAPTURE_TIMEOUT_MS);
  try {
    const picture = withOverlayHidden({ hideOverlay: () => hideOverlay(taken) }, () =>
      cdp.send("Page.captureScreenshot", { format: "jpeg", quality: JPEG_QUALITY, optimizeForSpeed: true }),
    );
    picture.catch(() => {});
    const { data } = await Promise.race([picture, late.promise]);
    return Buffer.from(data, "base64");
  } finally {
    clearTimeout(timer);
  }
}
