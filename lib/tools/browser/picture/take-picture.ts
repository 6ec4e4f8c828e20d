import type { CDPSession, Page } from "playwright";
import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import { withOverlayHidden } from "#lib/browser/overlay/hide-overlay.ts";
import { VIEWPORT } from "#lib/browser/page/open-browser.ts";
import type { Mark } from "#lib/injected/tools/mark-controls.ts";
import { callInMainFrame } from "../page-kit/tool-world.ts";
import { markControls } from "./mark-controls.ts";

/** The part of the page that a picture shows. */
type PictureArea = {
  selector?: string | undefined;
  fullPage: boolean;
  /** Whether to mark usable elements in the picture with their refs, such as `e7`. */
  hasMarks?: boolean;
};

/** A picture. Its pixels are CSS pixels of the page. */
export type Picture = {
  bytes: Uint8Array;
  mediaType: "image/jpeg";
  width: number;
  height: number;
  /** Height of the whole area if the picture was cut; null otherwise. */
  cutFrom: number | null;
  /** The elements that are marked in the picture. Their boxes are in pixels of the picture. */
  marks: Mark[];
};

/** Maximum height of a picture, in pixels. Chromium cannot draw more than 16,384 pixels. */
const EDGE_MAX = 16_000;
const BYTES_MAX = 8 * 2 ** 20;

/**
 * Takes a picture of the page. Hides the overlay, with which people annotate the page, while the picture is taken.
 * @throws Error with a readable message if the selector matches no element, or if the first element that it matches is
 * not visible.
 */
export async function takePicture(live: LiveBrowser, area: PictureArea): Promise<Picture> {
  const page = live.page();
  const session = await page.context().newCDPSession(page);
  try {
    const clip = await findClip(page, area);
    return await withOverlayHidden(live, async () => {
      if (!area.hasMarks) return capture(session, clip, []);
      const { marks, erase } = await markControls(live, clip);
      return capture(session, clip, marks).finally(erase);
    });
  } finally {
    await session.detach().catch(() => {});
  }
}

type Clip = { x: number; y: number; width: number; height: number };

/**
 * Takes a picture of what is in view, without a command to the document. So it also works while a navigation of the
 * page is pending, but then the overlay stays in the picture.
 */
export async function takePictureOfView(live: LiveBrowser): Promise<Picture> {
  const { width, height } = live.page().viewportSize() ?? VIEWPORT;
  return capture(await live.cdp(), { x: 0, y: 0, width, height }, [], false);
}

async function capture(
  session: CDPSession,
  clip: Clip,
  marks: Mark[],
  isBeyondView = true,
): Promise<Picture> {
  const height = Math.min(clip.height, EDGE_MAX);
  const draw = async (quality: number) => {
    const { data } = await session.send("Page.captureScreenshot", {
      format: "jpeg",
      quality,
      clip: { ...clip, height, scale: 1 },
      captureBeyondViewport: isBeyondView,
      optimizeForSpeed: true,
    });
    return Buffer.from(data, "base64");
  };
  let bytes = await draw(80);
  if (bytes.byteLength > BYTES_MAX) bytes = await draw(40);
  return {
    bytes,
    mediaType: "image/jpeg",
    width: Math.round(clip.width),
    height: Math.round(height),
    cutFrom: clip.height > height ? Math.round(clip.height) : null,
    marks: marks.map((mark) => ({ ...mark, x: mark.x - clip.x, y: mark.y - clip.y })),
  };
}

async function findClip(page: Page, { selector, fullPage }: PictureArea): Promise<Clip> {
  if (selector !== undefined) {
    const first = page.locator(selector).first();
    const total = await page.locator(selector).count();
    if (total === 0) throw new Error(`No element matches ${selector}; dom_query lists what is there.`);
    await first.scrollIntoViewIfNeeded({ timeout: 3_000 }).catch(() => {});
    const box = await first.boundingBox({ timeout: 3_000 });
    if (!box || box.width < 1 || box.height < 1)
      throw new Error(`${selector} is not visible, so it has no picture.`);
    const { x, y } = await readViewport(page);
    return { x: box.x + x, y: box.y + y, width: box.width, height: box.height };
  }
  const { full, ...shown } = await readViewport(page);
  return fullPage ? { x: 0, y: 0, ...full } : shown;
}

/**
 * Reads which part of the page the viewport shows, and the size of the whole page.
 * @throws Error if the page is not drawn yet.
 */
export async function readViewport(page: Page) {
  const view = await callInMainFrame(page, "readViewport", []);
  if (view) return view;
  throw new Error(
    "The page has no picture yet: only the beginning of its document has arrived. Try again later, or go to another page.",
  );
}
