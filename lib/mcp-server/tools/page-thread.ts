import { createJobThreads } from "#lib/tools/threads/job-threads.ts";
import type { PageAnswers, PageJob } from "./page-job.ts";

/** Does a job in a thread. @throws Error with a sentence when it takes too long or too much memory, or is stopped. */
export type PageThreads = <Kind extends PageJob["kind"]>(
  job: Extract<PageJob, { kind: Kind }>,
  signal: AbortSignal,
) => Promise<PageAnswers[Kind]>;

/** Makes the threads that parse pages. @see createJobThreads */
export function createPageThreads(deadlineMs?: number): PageThreads {
  const run = createJobThreads(new URL("./page-worker.ts", import.meta.url), deadlineMs);
  // The thread answers each kind of job with its own answer.
  return async (job, signal) => (await run(job, [], signal)) as PageAnswers[typeof job.kind];
}
