import { Worker } from "node:worker_threads";
import { type ReadDocument, readDocumentText } from "./read-document.ts";

/** Maximum size of a document that is read on the main thread. Reading such a document takes a few milliseconds. */
const LARGE_BYTES = 256 * 1024;
const MEMORY_MB = 512;
const TIMEOUT_MS = 30_000;

/**
 * Reads the bytes of a document. A document of more than 256 KiB is read in a worker thread, so that it does not block
 * the event loop of the main thread. The worker thread has 30 seconds; after that, the document is refused.
 */
export async function readInThread(bytes: Uint8Array): Promise<ReadDocument> {
  if (bytes.byteLength <= LARGE_BYTES) return readDocumentText(bytes);
  const worker = new Worker(new URL("./read-worker.ts", import.meta.url), {
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  });
  const { promise, resolve, reject } = Promise.withResolvers<ReadDocument>();
  const timer = setTimeout(
    () => resolve({ ok: false, problem: "document: takes too long to read" }),
    TIMEOUT_MS,
  );
  worker.once("message", resolve);
  worker.once("error", reject);
  worker.once("exit", (code) => reject(new Error(`the thread that reads documents ended with code ${code}`)));
  worker.postMessage(bytes);
  return promise.finally(() => {
    clearTimeout(timer);
    void worker.terminate();
  });
}
