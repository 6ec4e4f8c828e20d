import { parentPort, workerData } from "node:worker_threads";
import pixelmatch from "pixelmatch";
import type { Box, DifferenceAnswer, PageJob, PageOutcome } from "./page-job.ts";

// A thread's one file: it does the job it was started with, and says what came of it.
const job = workerData as PageJob;
const answer = (outcome: PageOutcome, transfer: ArrayBuffer[] = []) =>
  parentPort?.postMessage(outcome, transfer);

try {
  if (job.kind === "difference") {
    const { findDifference } = await import("./page-worker.ts");
    const value = findDifference(job);
    answer({ ok: true, value }, [value.picture.buffer]);
  } else if (job.kind === "markdown") {
    const { writeMarkdown } = await import("./write-markdown.ts");
    answer({ ok: true, value: writeMarkdown(job) });
  } else {
    const { findStructuredData } = await import("./find-structured-data.ts");
    answer({ ok: true, value: findStructuredData(job) });
  }
} catch (error) {
  // A page that is nested without end fills the stack.
  const isDeep = error instanceof RangeError;
  answer({ ok: false, error: isDeep ? "The page is nested too deeply." : String(error) });
}

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
