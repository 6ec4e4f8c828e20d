import pixelmatch from "pixelmatch";
import type { Box, Pixels, Size } from "./pictures.ts";

/** Two RGBA pictures of the same size. Colours whose distance is at most `threshold` (0 to 1) count as equal. */
export type DifferenceJob = { before: Pixels; after: Pixels; size: Size; threshold: number };

/**
 * How two pictures of the same size differ. `picture` is in RGBA and shows the differing pixels in red. `box` is the
 * smallest box around these pixels, or null if the pictures do not differ.
 */
export type PixelDifference = { differingPixels: number; box: Box | null; picture: Pixels };

/**
 * Compares two pictures by perceived colour. Pixels that differ only in the smoothing of an edge (anti-aliasing) count
 * as equal.
 */
export function findDifference({ before, after, size, threshold }: DifferenceJob): PixelDifference {
  const picture = new Uint8Array(size.width * size.height * 4);
  const differingPixels = pixelmatch(before, after, picture, size.width, size.height, { threshold });
  return { differingPixels, picture, box: differingPixels === 0 ? null : findBox(picture, size.width) };
}

/**
 * The smallest box around all red pixels. Only differing pixels are red: equal pixels are faded to grey, and pixels
 * that differ only in anti-aliasing are yellow.
 */
function findBox(picture: Uint8Array, width: number): Box | null {
  let [left, top, right, bottom] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, -1, -1];
  for (let at = 0; at < picture.length; at += 4) {
    if (picture[at] !== 255 || picture[at + 1] !== 0 || picture[at + 2] !== 0) continue;
    const [x, y] = [(at / 4) % width, Math.floor(at / 4 / width)];
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  }
  return right < 0 ? null : { x: left, y: top, width: right - left + 1, height: bottom - top + 1 };
}
