import { parentPort, workerData } from "node:worker_threads";
import type { JobOutcome } from "#lib/tools/threads/job-threads.ts";
import type { PageJob } from "./page-job.ts";

// The entry point of a worker thread. It runs the job in `workerData` and posts the outcome.
const job = workerData as PageJob;
const answer = (outcome: JobOutcome) => parentPort?.postMessage(outcome);

try {
  if (job.kind === "markdown") {
    const { writeMarkdown } = await import("./write-markdown.ts");
    answer({ ok: true, value: writeMarkdown(job) });
  } else {
    const { findStructuredData } = await import("./find-structured-data.ts");
    answer({ ok: true, value: findStructuredData(job) });
  }
} catch (error) {
  // A RangeError means that the stack overflowed, because the page is nested too deeply.
  const isDeep = error instanceof RangeError;
  answer({ ok: false, error: isDeep ? "The page is nested too deeply." : String(error) });
}
