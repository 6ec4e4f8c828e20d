import { Worker } from "node:worker_threads";
import type { SchemaAnswer, SchemaJob } from "./schema-job.ts";

export type ThreadOptions = {
  /** How long one job may take once the thread has it. */
  deadlineMs: number;
  /** How much memory the thread's objects may take. */
  memoryMb: number;
};

/** What became of a job: its answer, or why the thread was ended over it. */
export type ThreadOutcome = SchemaAnswer | { kind: "timeout" } | { kind: "out of memory" };

/** One worker thread that plays jobs in order of arrival. */
export type SchemaThread = {
  /** @throws when the thread cannot start, fails by a bug, or was closed. */
  run: (job: SchemaJob) => Promise<ThreadOutcome>;
  close: () => Promise<void>;
};

/**
 * Starts its thread at the first job and keeps it warm; a job that exceeds its time or memory ends the thread, and
 * the next job gets a new one. An idle thread does not keep the process alive.
 */
export function createSchemaThread(options: ThreadOptions): SchemaThread {
  let thread: Thread | undefined;
  let tail: Promise<unknown> = Promise.resolve();
  let ending: Promise<unknown> = Promise.resolve();
  let isClosed = false;

  async function play(job: SchemaJob): Promise<ThreadOutcome> {
    // One thread at a time: pattern code is not interrupted while it is made, and would fill core after core.
    await ending;
    if (isClosed) throw new Error("the schema thread is closed");
    if (thread === undefined || thread.isGone()) thread = await startThread(options.memoryMb);
    if (isClosed) {
      await thread.end();
      throw new Error("the schema thread is closed");
    }
    const outcome = await thread.ask(job, options.deadlineMs);
    if (outcome.kind === "timeout" || outcome.kind === "out of memory") ending = thread.end();
    return outcome;
  }

  return {
    run(job) {
      const outcome = tail.then(() => play(job));
      tail = outcome.catch(() => {});
      return outcome;
    },
    async close() {
      isClosed = true;
      await thread?.end();
    },
  };
}

type Thread = {
  ask: (job: SchemaJob, deadlineMs: number) => Promise<ThreadOutcome>;
  isGone: () => boolean;
  end: () => Promise<unknown>;
};

/** Starts a thread and waits until it has loaded, so that no job pays for that with its deadline. */
async function startThread(memoryMb: number): Promise<Thread> {
  const worker = new Worker(new URL("./schema-worker.ts", import.meta.url), {
    // No environment, so that nothing a schema could do there would find a secret.
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 32 },
  });
  let isGone = false;
  let waiting = Promise.withResolvers<ThreadOutcome>();
  worker.on("message", (answer: SchemaAnswer) => waiting.resolve(answer));
  worker.on("error", (error: NodeJS.ErrnoException) => {
    isGone = true;
    if (error.code === "ERR_WORKER_OUT_OF_MEMORY") waiting.resolve({ kind: "out of memory" });
    else waiting.reject(error);
  });
  worker.on("exit", (code) => {
    isGone = true;
    waiting.reject(new Error(`the schema thread ended (${code})`));
  });
  await waiting.promise;
  if (isGone) throw new Error("the schema thread could not start in its memory");
  worker.unref();

  return {
    async ask(job, deadlineMs) {
      const asked = Promise.withResolvers<ThreadOutcome>();
      waiting = asked;
      // An answer that arrived while the event loop was busy is taken before the deadline is.
      const timer = setTimeout(() => setImmediate(asked.resolve, { kind: "timeout" }), deadlineMs);
      worker.ref();
      worker.postMessage(job);
      try {
        return await asked.promise;
      } finally {
        clearTimeout(timer);
        worker.unref();
      }
    },
    isGone: () => isGone,
    end: () => {
      isGone = true;
      return worker.terminate();
    },
  };
}
