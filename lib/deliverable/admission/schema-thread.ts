import { Worker } from "node:worker_threads";
import type { SchemaAnswer, SchemaJob, WorkerMessage } from "./schema-job.ts";

export type JobLimits = {
  /**
   * CPU time limit of one job. A limit of the same length on elapsed time would end cheap jobs on a busy machine.
   */
  cpuMs: number;
};

/** The answer to a job, or the limit that the job exceeded. The thread of a job that exceeded a limit is terminated. */
export type ThreadOutcome = SchemaAnswer | { kind: "timeout" } | { kind: "out of memory" };

/** One worker thread. The caller must run one job at a time. */
export type SchemaThread = {
  isStarted: () => boolean;
  /** Runs a job, and starts the thread if necessary. @throws if the thread cannot start, has a bug, or was closed. */
  run: (job: SchemaJob, limits: JobLimits) => Promise<ThreadOutcome>;
  /** Terminates the thread; the next job starts another one. */
  stop: () => Promise<void>;
  close: () => Promise<void>;
};

/**
 * A job ends when the elapsed time exceeds this multiple of its CPU time limit. This ends jobs that get no CPU time,
 * and jobs whose CPU time cannot be measured.
 */
const WALL_FACTOR = 40;

/**
 * Creates a thread, which starts at its first job and is reused. When a job exceeds its CPU time or memory, the thread
 * is terminated, and the next job starts a new one. An idle thread does not keep the process alive.
 */
export function createSchemaThread(memoryMb: number): SchemaThread {
  let thread: Thread | undefined;
  let ending: Promise<unknown> = Promise.resolve();
  let isClosed = false;

  const stop = async () => {
    if (thread?.isGone() === false) ending = thread.terminate();
    await ending;
  };

  return {
    isStarted: () => thread?.isGone() === false,
    async run(job, limits) {
      // Waits until the old thread has ended. This can take a while, because V8 cannot interrupt the compilation of a
      // regular expression.
      await ending;
      if (isClosed) throw new Error("the schema thread is closed");
      if (thread === undefined || thread.isGone()) thread = await startThread(memoryMb);
      if (isClosed) {
        await stop();
        throw new Error("the schema thread is closed");
      }
      const outcome = await thread.run(job, limits);
      if (outcome.kind === "timeout" || outcome.kind === "out of memory") ending = thread.terminate();
      return outcome;
    },
    stop,
    async close() {
      isClosed = true;
      await stop();
    },
  };
}

type Thread = {
  run: (job: SchemaJob, limits: JobLimits) => Promise<ThreadOutcome>;
  isGone: () => boolean;
  terminate: () => Promise<unknown>;
};

/** Starts a thread and waits until its code has loaded, so that loading does not count towards the first job's time. */
async function startThread(memoryMb: number): Promise<Thread> {
  const worker = new Worker(new URL("./schema-worker.ts", import.meta.url), {
    // The environment is empty, so that code injected through a schema finds no secrets in it.
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 32 },
  });
  let isGone = false;
  /** The thread's CPU time when its last job ended. */
  let cpuMsBefore = 0;
  let waiting = Promise.withResolvers<ThreadOutcome | undefined>();
  worker.on("message", ({ answer, cpuMs }: WorkerMessage) => {
    cpuMsBefore = cpuMs;
    waiting.resolve(answer);
  });
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
    async run(job, limits) {
      const started = Promise.withResolvers<ThreadOutcome | undefined>();
      waiting = started;
      // Uses `setImmediate`, so that an answer that arrived while the event loop was busy is handled before the
      // deadline.
      const expire = () => setImmediate(started.resolve, { kind: "timeout" });
      const stopWatching = watchCpu(worker, cpuMsBefore, limits.cpuMs, expire);
      worker.ref();
      worker.postMessage(job);
      try {
        const outcome = await started.promise;
        if (outcome === undefined) throw new Error("the schema thread sent no answer");
        return outcome;
      } finally {
        stopWatching();
        worker.unref();
      }
    },
    isGone: () => isGone,
    terminate: () => {
      isGone = true;
      return worker.terminate();
    },
  };
}

/**
 * Calls `expire` when the thread's CPU time exceeds `cpuMsBefore` by `cpuMs`, or when the elapsed time exceeds `cpuMs`
 * times `WALL_FACTOR`.
 * @returns a function that ends the watch.
 */
function watchCpu(worker: Worker, cpuMsBefore: number, cpuMs: number, expire: () => void): () => void {
  let isOver = false;
  let timer: NodeJS.Timeout;
  const wallTimer = setTimeout(expire, cpuMs * WALL_FACTOR);
  const check = async () => {
    const { user, system } = await worker.cpuUsage();
    if (isOver) return;
    const leftMs = cpuMs - ((user + system) / 1_000 - cpuMsBefore);
    if (leftMs <= 0) expire();
    else arm(Math.max(leftMs, 10));
  };
  const arm = (ms: number) => {
    // Ignores failures, because a thread that has exited cannot be measured, and its exit ends the job.
    timer = setTimeout(() => check().catch(() => {}), ms);
  };
  arm(cpuMs);
  return () => {
    isOver = true;
    clearTimeout(timer);
    clearTimeout(wallTimer);
  };
}
