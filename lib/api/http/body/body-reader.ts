import type { Operation } from "../../contract/operation.ts";
import { type Failure, fail } from "../errors.ts";
import { type BodyBudget, createBodyBudget } from "./body-budget.ts";
import { createBodyThread } from "./body-thread.ts";
import { type CheckedBody, checkBody } from "./parse-body.ts";

/** Maximum size of a body that is parsed on the main thread. Parsing such a body takes a few milliseconds at most. */
const LARGE_BODY_BYTES = 256 * 1024;
/**
 * Maximum total size of the large bodies that are processed at the same time. Each byte of a body needs about five
 * bytes of memory, for the bytes, the text, the value and the database statement.
 */
const BUDGET_BYTES = 32 * 1024 * 1024;
const WAIT_MS = 10_000;
const RETRY_AFTER_SECONDS = 5;

/**
 * A body that was read, or a refusal. The caller must call `release` after answering, to release the body's share of
 * the budget.
 */
export type ReadBody = (Extract<CheckedBody, { ok: true }> & { release: () => void }) | Failure;

export type BodyReader = {
  /**
   * Reads a request's body as JSON. With `operation`, also validates it against the operation's body schema. Stops
   * reading after `maxBytes`.
   */
  read: (request: Request, maxBytes: number, operation?: Operation) => Promise<ReadBody>;
};

/**
 * Creates the reader of request bodies. A small body is parsed and validated on the main thread. As soon as more than
 * 256 KiB of a body have arrived, the reader reserves the body's size from a budget that all requests share, and only
 * then reads on. Such a large body is parsed, validated and hashed in a worker thread, so that the event loop can serve
 * other requests.
 *
 * @param options.budgetBytes total size of the large bodies that are processed at the same time. Default 32 MiB.
 * @param options.waitMs how long a large body waits for the budget before it is refused. Default 10,000.
 */
export function createBodyReader({ budgetBytes = BUDGET_BYTES, waitMs = WAIT_MS } = {}): BodyReader {
  const budget = createBodyBudget({ bytes: budgetBytes, waitMs });
  const thread = createBodyThread();
  return {
    async read(request, maxBytes, operation) {
      const received = await receive(request, maxBytes, budget);
      if (!received.ok) return received;
      const { bytes, release } = received;
      let isHandedOver = false;
      try {
        const checked =
          bytes.byteLength <= LARGE_BODY_BYTES
            ? checkBody(bytes, operation?.body)
            : await thread.check(bytes, operation);
        isHandedOver = checked.ok;
        return checked.ok ? { ...checked, release } : checked;
      } finally {
        if (!isHandedOver) release();
      }
    },
  };
}

type Received = { ok: true; bytes: Uint8Array<ArrayBuffer>; release: () => void } | Failure;

/**
 * Receives the bytes of a body. As soon as the body turns out to be large, the function reserves the declared size, or
 * `maxBytes` if no size is declared, before it reads on.
 */
async function receive(request: Request, maxBytes: number, budget: BodyBudget): Promise<Received> {
  const declared = Number(request.headers.get("content-length") ?? Number.NaN);
  if (declared > maxBytes) return tooLarge(maxBytes);
  const chunks: Uint8Array[] = [];
  let size = 0;
  let release: (() => void) | undefined;
  let isComplete = false;
  try {
    for await (const chunk of request.body ?? []) {
      size += chunk.byteLength;
      if (size > maxBytes) return tooLarge(maxBytes);
      if (size > LARGE_BODY_BYTES && !release) {
        release = await budget.reserve(declared || maxBytes, request.signal);
        if (!release) return tooManyLarge();
      }
      chunks.push(chunk);
    }
    isComplete = true;
    return { ok: true, bytes: join(chunks, size), release: release ?? (() => {}) };
  } finally {
    if (!isComplete) release?.();
  }
}

/** Copies the chunks into one new buffer, which can be transferred to a thread. */
function join(chunks: Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    joined.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return joined;
}

const tooLarge = (maxBytes: number): Failure =>
  fail("payload_too_large", `body: must be at most ${Math.round(maxBytes / 1024).toLocaleString("en")} KiB`);

const tooManyLarge = (): Failure =>
  fail("unavailable", "too many large bodies are being read; try again", {
    "Retry-After": String(RETRY_AFTER_SECONDS),
  });
