import { Worker } from "node:worker_threads";
import { createTurns } from "../take-turns.ts";
import type { PageAnswers, PageJob, PageOutcome } from "./page-job.ts";

/** Does a job in a thread. @throws Error with a sentence when it takes too long or too much memory, or is stopped. */
export type PageThreads = <Kind extends PageJob["kind"]>(
  job: Extract<PageJob, { kind: Kind }>,
  signal: AbortSignal,
) => Promise<PageAnswers[Kind]>;

const DEADLINE_MS = 10_000;
const MEMORY_MB = 384;

/** Makes the threads: one for each job, two at once, ended with it whatever it is doing. */
export function createPageThreads(deadlineMs = DEADLINE_MS): PageThreads {
  const turns = createTurns({ atOnce: 2, waitingMax: 30 });
  return async (job, signal) => {
    const taken = await turns("thread", signal, () =>
      runThread(job, AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)])),
    );
    const outcome = taken.ok ? taken.value : taken;
    if (!outcome.ok) throw new Error(outcome.error);
    // The thread answers each kind of job with its own answer.
    return outcome.value as PageAnswers[typeof job.kind];
  };
}

async function runThread(job: PageJob, signal: AbortSignal): Promise<PageOutcome> {
  const worker = new Worker(new URL("./page-worker.ts", import.meta.url), {
    // No environment, so that nothing a page could do there would find a secret.
    env: {},
    execArgv: [],
    workerData: job,
    transferList: job.kind === "difference" ? [job.before.buffer, job.after.buffer] : [],
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB, maxYoungGenerationSizeMb: 32 },
  });
  const { promise, resolve } = Promise.withResolvers<PageOutcome>();
  const stop = () => resolve({ ok: false, error: "The work took too long, or was stopped." });
  worker.on("message", resolve);
  worker.on("error", (error: NodeJS.ErrnoException) => {
    const isMemory = error.code === "ERR_WORKER_OUT_OF_MEMORY";
    resolve({ ok: false, error: isMemory ? "The page takes more memory than it may." : error.message });
  });
  worker.on("exit", () => resolve({ ok: false, error: "The work ended without an answer." }));
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  try {
    return await promise;
  } finally {
    signal.removeEventListener("abort", stop);
    await worker.terminate();
  }
}
