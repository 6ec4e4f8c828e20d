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

/** A picture and its smaller copy for the model. Sizes are in CSS pixels of the page, unless stated otherwise. */
export type Picture = {
  bytes: Uint8Array;
  mediaType: "image/jpeg";
  width: number;
  height: number;
  /** Height of the whole area if the picture was cut; null otherwise. */
  cutFrom: number | null;
  /** The copy for the model, at most 1568 pixels on its long edge. */
  modelBytes: Uint8Array;
  modelHeight: number;
  /** The elements that are marked in the picture. Their boxes are in pixels of the model's copy. */
  marks: Mark[];
};

const MODEL_EDGE_MAX = 1_568;
/**
 * Minimum width of the model's copy, because text in a narrower picture is not readable. The copy of a very long page
 * is cut instead of being scaled down further.
 */
const MODEL_WIDTH_MIN = 500;
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
  const draw = async (height: number, scale: number, quality: number) => {
    const { data } = await session.send("Page.captureScreenshot", {
      format: "jpeg",
      quality,
      clip: { ...clip, height, scale },
      captureBeyondViewport: isBeyondView,
      optimizeForSpeed: true,
    });
    return Buffer.from(data, "base64");
  };
  const height = Math.min(clip.height, EDGE_MAX);
  let bytes = await draw(height, 1, 80);
  if (bytes.byteLength > BYTES_MAX) bytes = await draw(height, 1, 40);
  const { scale, height: modelHeight } = fitForModel(clip.width, height);
  const isSame = scale === 1 && modelHeight === height;
  return {
    bytes,
    mediaType: "image/jpeg",
    width: Math.round(clip.width),
    height: Math.round(height),
    cutFrom: clip.height > height ? Math.round(clip.height) : null,
    modelBytes: isSame ? bytes : await draw(modelHeight, scale, 75),
    modelHeight: Math.round(modelHeight),
    marks: marks.map((mark) => ({
      ...mark,
      x: Math.round((mark.x - clip.x) * scale),
      y: Math.round((mark.y - clip.y) * scale),
      width: Math.round(mark.width * scale),
      height: Math.round(mark.height * scale),
    })),
  };
}

/**
 * Computes the scale of the model's copy and how much of the picture's height it shows, so that the copy is within the
 * model's limit and readable.
 */
export function fitForModel(width: number, height: number): { scale: number; height: number } {
  const scale = Math.min(1, MODEL_EDGE_MAX / Math.max(width, height));
  const scaleMin = Math.min(1, MODEL_WIDTH_MIN / width, MODEL_EDGE_MAX / width);
  if (scale >= scaleMin) return { scale, height };
  return { scale: scaleMin, height: Math.min(height, Math.floor(MODEL_EDGE_MAX / scaleMin)) };
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
