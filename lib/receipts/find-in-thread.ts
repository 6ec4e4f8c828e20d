import { Worker } from "node:worker_threads";
import type { ReceiptStatus, SeenText } from "./find/receipt.ts";

/** What the worker thread looks up. Values, schema and citations are JSON texts, which only the thread parses. */
export type ThreadJob = {
  value: string;
  schema: string | null;
  citations: string[];
  /** The newest picture of each page, by URL. */
  pictures: [url: string, evidenceId: string][];
  isWhole: boolean;
};

/** The receipts of a deliverable as JSON text, and the number of values by status. */
export type FoundReceipts = { list: string; counts: Record<ReceiptStatus, number> };

const MEMORY_MB = 768;
const TIMEOUT_MS = 120_000;

/**
 * Looks up the values of a deliverable in a worker thread, which gets the texts as they are read.
 *
 * @returns undefined if the thread took too long, or more memory than it may have.
 */
export async function findInThread(
  texts: AsyncIterable<SeenText[]>,
  job: ThreadJob,
): Promise<FoundReceipts | undefined> {
  const worker = new Worker(new URL("./receipts-worker.ts", import.meta.url), {
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  });
  const { promise, resolve, reject } = Promise.withResolvers<FoundReceipts | undefined>();
  const timer = setTimeout(() => resolve(undefined), TIMEOUT_MS);
  worker.once("message", resolve);
  worker.once("error", (error: NodeJS.ErrnoException) =>
    error.code === "ERR_WORKER_OUT_OF_MEMORY" ? resolve(undefined) : reject(error),
  );
  worker.once("exit", (code) => reject(new Error(`the thread that looks up values ended with code ${code}`)));
  try {
    for await (const batch of texts) worker.postMessage({ texts: batch });
    worker.postMessage({ job });
    return await promise;
  } finally {
    clearTimeout(timer);
    // Without this, the end of the thread would be an unhandled rejection if reading the texts failed.
    promise.catch(() => {});
    await worker.terminate();
  }
}
