import type { Box } from "#lib/injected/overlay/overlay-state.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import { withOverlayHidden } from "../overlay/hide-overlay.ts";
import type { OpenBrowser } from "../page/open-browser.ts";

const CAPTURE_MS_MAX = 5_000;
const JPEG_QUALITY = 70;
/** The largest part of the page that a picture shows, and how much of the page around the box, in CSS pixels. */
const WIDTH_MAX = 800;
const HEIGHT_MAX = 600;
const AROUND = 40;
/** A larger picture is left out. */
const BYTES_MAX = 1_048_576;

/**
 * Takes a picture of the page around each box, which is in CSS pixels of the viewport, as JPEG, without the overlay. Null for a box that is not in view.
 * @throws Error if the page does not answer in time.
 */
export function captureBoxes(
  browser: OpenBrowser,
  boxes: readonly Box[],
  hideOverlay: () => Promise<() => void>,
): Promise<(Uint8Array | null)[]> {
  const { cdp } = browser.selected();
  const captureAll = async () => {
    const { cssVisualViewport: view } = await cdp.send("Page.getLayoutMetrics");
    const pictures: (Uint8Array | null)[] = [];
    for (const box of boxes) {
      const part = partOfView(box, { width: view.clientWidth, height: view.clientHeight });
      if (!part) {
        pictures.push(null);
        continue;
      }
      const clip = { ...part, x: part.x + view.pageX, y: part.y + view.pageY, scale: 1 };
      const options = { format: "jpeg", quality: JPEG_QUALITY, optimizeForSpeed: true, clip } as const;
      const bytes = Buffer.from((await cdp.send("Page.captureScreenshot", options)).data, "base64");
      pictures.push(bytes.byteLength <= BYTES_MAX ? bytes : null);
    }
    return pictures;
  };
  return createDeadline({ ms: CAPTURE_MS_MAX, lateMessage: "the page did not answer" }).race(
    withOverlayHidden({ hideOverlay }, captureAll),
  );
}

/** Returns the part of the view around a box. Undefined if the box is not in view. */
function partOfView(box: Box, view: { width: number; height: number }): Box | undefined {
  const [x, width] = stretch(box.x, box.width, view.width, WIDTH_MAX);
  const [y, height] = stretch(box.y, box.height, view.height, HEIGHT_MAX);
  const isInView =
    box.x < view.width && box.y < view.height && box.x + box.width > 0 && box.y + box.height > 0;
  return isInView && width >= 1 && height >= 1 ? { x, y, width, height } : undefined;
}

function stretch(from: number, length: number, view: number, most: number): [from: number, length: number] {
  const start = Math.max(0, Math.floor(from - AROUND));
  const end = Math.min(view, Math.ceil(from + length + AROUND), start + most);
  return [start, end - start];
}
