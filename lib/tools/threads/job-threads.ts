import { Worker } from "node:worker_threads";
import { errorText } from "#lib/text/error-text.ts";
import { createDeadline, type Deadline } from "#lib/time/deadline.ts";
import { createTurns } from "./take-turns.ts";

/** What a thread posts when its job has ended: the result, or an error message. */
export type JobOutcome = { ok: true; value: unknown } | { ok: false; error: string };

/**
 * Runs a job in a thread.
 * @throws Error with a readable message if the job fails, takes too long, needs too much memory or is stopped, or if
 * too many jobs already wait for a thread.
 */
type JobThreads = (job: object, transfer: ArrayBuffer[], signal: AbortSignal) => Promise<unknown>;

const DEADLINE_MS = 10_000;
const MEMORY_MB = 384;

/**
 * Creates a runner for jobs that may take long or need much memory. Each job has its own thread; at most two run at the
 * same time.
 * @param worker the file that a thread runs; it reads the job from `workerData` and posts a {@link JobOutcome}.
 */
export function createJobThreads(worker: URL, deadlineMs = DEADLINE_MS): JobThreads {
  const turns = createTurns({ atOnce: 2, waitingMax: 30 });
  return async (job, transfer, signal) => {
    const result = await turns("thread", signal, () =>
      runThread(worker, job, transfer, createDeadline({ ms: deadlineMs, signal })),
    );
    const outcome = result.ok ? result.value : result;
    if (!outcome.ok) throw new Error(outcome.error);
    return outcome.value;
  };
}

async function runThread(
  file: URL,
  job: object,
  transfer: ArrayBuffer[],
  deadline: Deadline,
): Promise<JobOutcome> {
  const worker = new Worker(file, {
    // The thread gets no environment variables, so that its code cannot read secrets.
    env: {},
    execArgv: [],
    workerData: job,
    transferList: transfer,
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB, maxYoungGenerationSizeMb: 32 },
  });
  const { promise, resolve } = Promise.withResolvers<JobOutcome>();
  worker.on("message", resolve);
  worker.on("error", (error: NodeJS.ErrnoException) => {
    const isMemory = error.code === "ERR_WORKER_OUT_OF_MEMORY";
    resolve({ ok: false, error: isMemory ? "The page takes more memory than it may." : errorText(error) });
  });
  worker.on("exit", () => resolve({ ok: false, error: "The work ended without an answer." }));
  try {
    return await deadline.race(promise, () => ({
      ok: false,
      error: "The work took too long, or was stopped.",
    }));
  } finally {
    await worker.terminate();
  }
}
