import { createJobThreads } from "../../threads/job-threads.ts";
import type { DifferenceJob, PixelDifference } from "./find-difference.ts";
import { decodePicture, type Size } from "./pictures.ts";

/** An encoded picture and its size. */
export type ReadPicture = { bytes: Uint8Array; size: Size };

/**
 * How two pictures differ when their upper left corners are aligned. `box` and `picture` describe only the overlap.
 * Pixels outside of the overlap count as differing. `totalPixels` counts the pixels that are in at least one picture.
 */
type PictureDifference = PixelDifference & { totalPixels: number; overlap: Size };

/**
 * Compares two pictures pixel by pixel. Colours whose distance is at most `threshold` (0 to 1) count as equal.
 * @throws Error with a readable message if a picture is broken, the overlap is too large, too many comparisons already
 * wait, or the work is stopped, takes too long or needs too much memory.
 */
export type PictureComparer = (
  before: ReadPicture,
  after: ReadPicture,
  options: { threshold: number; signal: AbortSignal },
) => Promise<PictureDifference>;

const PIXELS_MAX = 20_000_000;

/** Creates a comparer that compares each pair of pictures in a worker thread. */
export function createPictureComparer(): PictureComparer {
  const run = createJobThreads(new URL("./difference-worker.ts", import.meta.url));
  return async (before, after, { threshold, signal }) => {
    const overlap = findOverlap(before.size, after.size);
    if (countPixels(overlap) > PIXELS_MAX)
      throw new Error(`The pictures have more than ${PIXELS_MAX.toLocaleString("en")} pixels in common.`);
    const [left, right] = await Promise.all([
      decodePicture(before.bytes, overlap),
      decodePicture(after.bytes, overlap),
    ]);
    const job: DifferenceJob = { before: left, after: right, size: overlap, threshold };
    // The cast is safe, because `difference-worker.ts` posts a `PixelDifference`.
    const found = (await run(job, [left.buffer, right.buffer], signal)) as PixelDifference;
    const totalPixels = countPixels(before.size) + countPixels(after.size) - countPixels(overlap);
    const differingPixels = found.differingPixels + totalPixels - countPixels(overlap);
    return { ...found, differingPixels, totalPixels, overlap };
  };
}

const findOverlap = (a: Size, b: Size): Size => ({
  width: Math.min(a.width, b.width),
  height: Math.min(a.height, b.height),
});

const countPixels = ({ width, height }: Size): number => width * height;
