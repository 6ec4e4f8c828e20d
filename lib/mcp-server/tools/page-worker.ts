import { parentPort, workerData } from "node:worker_threads";
import type { PageJob, PageOutcome } from "./page-job.ts";

// A thread's one file: it does the job it was started with, and says what came of it.
const job = workerData as PageJob;
const answer = (outcome: PageOutcome, transfer: ArrayBuffer[] = []) =>
  parentPort?.postMessage(outcome, transfer);

try {
  if (job.kind === "difference") {
    const { findDifference } = await import("./find-difference.ts");
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
