import pixelmatch from "pixelmatch";
import type { Box, DifferenceAnswer, PageJob } from "./page-job.ts";

/** Compares two RGBA pictures of one size by how their colours look; what only smooths an edge does not count. */
export function findDifference(job: Extract<PageJob, { kind: "difference" }>): DifferenceAnswer {
  const { before, after, size, threshold } = job;
  const picture = new Uint8Array(size.width * size.height * 4);
  const differingPixels = pixelmatch(before, after, picture, size.width, size.height, { threshold });
  return { differingPixels, picture, box: differingPixels === 0 ? null : findBox(picture, size.width) };
}

/** The smallest box around everything red, which is nothing but what differs: the rest is faded to grey. */
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
