import { createJobThreads } from "#lib/tools/threads/job-threads.ts";
import type { PageAnswers, PageJob } from "./page-job.ts";

/**
 * Runs a job in a thread. @throws Error with a sentence if the job fails, needs too much time or memory, or is stopped.
 */
export type PageThreads = <Kind extends PageJob["kind"]>(
  job: Extract<PageJob, { kind: Kind }>,
  signal: AbortSignal,
) => Promise<PageAnswers[Kind]>;

/** Creates the threads that parse pages. @see createJobThreads */
export function createPageThreads(deadlineMs?: number): PageThreads {
  const run = createJobThreads(new URL("./page-worker.ts", import.meta.url), deadlineMs);
  // The cast is safe: the worker returns the answer type that belongs to the job's kind.
  return async (job, signal) => (await run(job, [], signal)) as PageAnswers[typeof job.kind];
}
