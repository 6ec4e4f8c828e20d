import { Worker } from "node:worker_threads";
import type { Operation } from "../../contract/operation.ts";
import type { Failure } from "../errors.ts";
import type { BodyAnswer, BodyJob } from "./body-worker.ts";
import type { CheckedBody } from "./parse-body.ts";

/** A worker thread that parses, validates and hashes bodies, in the order in which they are passed to it. */
type BodyThread = {
  /** Checks a body. @param bytes transferred to the thread, so the caller's array is empty afterwards. */
  check: (bytes: Uint8Array<ArrayBuffer>, operation: Operation | undefined) => Promise<CheckedBody>;
};

/** Milliseconds after which an idle thread is terminated to free its memory. */
const IDLE_MS = 30_000;
const MEMORY_MB = 512;

/**
 * Creates the manager of the worker thread. The thread starts with the first job. An idle thread does not keep the
 * process alive.
 */
export function createBodyThread(): BodyThread {
  let worker: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  const pending: PromiseWithResolvers<BodyAnswer>[] = [];

  function start(): Worker {
    const started = new Worker(new URL("./body-worker.ts", import.meta.url), {
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    });
    const fail = (error: unknown) => {
      if (worker !== started) return;
      worker = undefined;
      for (const { reject } of pending.splice(0)) reject(error);
    };
    started.on("message", (answer: BodyAnswer) => {
      pending.shift()?.resolve(answer);
      if (pending.length === 0) becomeIdle(started);
    });
    started.on("error", fail);
    started.on("exit", (code) => fail(new Error(`the body parser thread exited with code ${code}`)));
    return started;
  }
  function becomeIdle(idleWorker: Worker): void {
    idleWorker.unref();
    idle = setTimeout(() => {
      worker = undefined;
      void idleWorker.terminate();
    }, IDLE_MS).unref();
  }

  return {
    async check(bytes, operation) {
      clearTimeout(idle);
      worker ??= start();
      worker.ref();
      const result = Promise.withResolvers<BodyAnswer>();
      pending.push(result);
      const job: BodyJob = {
        bytes,
        operation: operation && { method: operation.method, path: operation.path },
      };
      worker.postMessage(job, [bytes.buffer]);
      const answer: Failure | { ok: true; value: unknown; hash: string } = await result.promise;
      return answer.ok ? { ...answer, hash: () => answer.hash } : answer;
    },
  };
}
