import { Worker } from "node:worker_threads";
import { makeTypes, type PglitePort } from "./pglite-port.ts";
import type { PgliteAnswer, PgliteJob } from "./pglite-worker.ts";

/** The embedded database's thread has ended by itself; what it was asked last may be kept or not. */
export class DatabaseThreadLostError extends Error {
  constructor(cause: unknown) {
    super("the embedded database has ended; start the service again", { cause });
    this.name = "DatabaseThreadLostError";
  }
}

type Opened = Extract<PgliteAnswer, { kind: "open" }>;

/** Starts the thread itself. It needs none of the process's settings, and no object of its own lives long. */
export const startWorker = (folder: string): Worker =>
  new Worker(new URL("./pglite-worker.ts", import.meta.url), {
    workerData: { folder },
    env: {},
    execArgv: [],
    resourceLimits: { maxYoungGenerationSizeMb: 8 },
  });

/**
 * Starts a PGlite in a thread of its own, so that neither waits for the other: what the database does takes a third to
 * a half of the processor's time of a turn, and while it does it no event of this thread is handled.
 *
 * @param folder where its files are; nobody else may have it open.
 * @param onLost called once if the thread ends without having been asked to, after every statement has failed.
 * @throws Error with PGlite's own sentence when it cannot open the folder.
 */
export async function startPgliteThread(
  folder: string,
  onLost: (error: DatabaseThreadLostError) => void,
  worker: Worker = startWorker(folder),
): Promise<PglitePort> {
  /** What was asked and is not answered: answers come in the order of the questions. */
  const asked: PromiseWithResolvers<ArrayBuffer | Opened>[] = [];
  const ended = Promise.withResolvers<void>();
  let state: "open" | "closing" | "gone" = "open";
  let isOpened = false;
  let lost: DatabaseThreadLostError | undefined;

  function wait(): Promise<ArrayBuffer | Opened> {
    const question = Promise.withResolvers<ArrayBuffer | Opened>();
    if (asked.push(question) === 1) worker.ref();
    return question.promise;
  }

  worker.on("message", (answer: PgliteAnswer) => {
    const question = asked.shift();
    // An idle database does not keep a process alive that has nothing else to do.
    if (asked.length === 0 && state === "open") worker.unref();
    if ("kind" in answer && answer.kind === "failed") question?.reject(new Error(answer.message));
    else question?.resolve(answer);
  });
  worker.on("error", (error) => {
    lost = new DatabaseThreadLostError(error);
  });
  worker.on("exit", (code) => {
    const isLost = state === "open";
    state = "gone";
    if (isLost) lost ??= new DatabaseThreadLostError(new Error(`its thread ended with code ${code}`));
    for (const { reject } of asked.splice(0)) reject(lost ?? new Error("PGlite is closed"));
    ended.resolve();
    // Once those who asked have heard of it.
    if (isLost && isOpened && lost) setImmediate(onLost, lost);
  });

  const opened = (await wait().catch(async (error) => {
    state = "closing";
    await worker.terminate();
    throw error instanceof DatabaseThreadLostError ? (error.cause ?? error) : error;
  })) as Opened;
  isOpened = true;

  return {
    ...makeTypes(opened.arrays),
    async exec(messages) {
      if (state !== "open") throw lost ?? new Error("PGlite is closed");
      worker.postMessage(messages satisfies PgliteJob, [messages.buffer]);
      return wait() as Promise<ArrayBuffer>;
    },
    async close() {
      if (state === "open") {
        state = "closing";
        worker.ref();
        worker.postMessage("close" satisfies PgliteJob);
      }
      await ended.promise;
    },
  };
}
