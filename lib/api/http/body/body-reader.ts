import type { Operation } from "../../contract/operation.ts";
import { type Failure, fail } from "../errors.ts";
import { type BodyBudget, createBodyBudget } from "./body-budget.ts";
import { createBodyThread } from "./body-thread.ts";
import { type CheckedBody, checkBody } from "./parse-body.ts";

/** A body of up to this many bytes is parsed in place, which takes a few milliseconds at most. */
const LARGE_BODY_BYTES = 256 * 1024;
/** A body in flight occupies about five times its size: its bytes, its text, its value, and what the database is sent. */
const BUDGET_BYTES = 32 * 1024 * 1024;
const WAIT_MS = 10_000;
const RETRY_AFTER_SECONDS = 5;

/** A body that was read; `release` returns its share of the budget once the call has been answered. */
export type ReadBody = (Extract<CheckedBody, { ok: true }> & { release: () => void }) | Failure;

export type BodyReader = {
  /**
   * Reads a request's body as JSON, and validates it against the body schema of the operation, if given. Reading stops
   * at the cap.
   */
  read: (request: Request, maxBytes: number, operation?: Operation) => Promise<ReadBody>;
};

/**
 * Creates the reader of request bodies. A small body is parsed and validated in place. A large one reserves its size
 * from a budget that all requests share, and is parsed, validated and hashed in a worker thread, so that the event loop
 * serves other requests meanwhile. A body that waits for the budget is not read on, so that it occupies no memory.
 *
 * @param options.budgetBytes large bodies in flight, in bytes. Default 32 MiB.
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
      let isKept = false;
      try {
        const checked =
          bytes.byteLength <= LARGE_BODY_BYTES
            ? checkBody(bytes, operation?.body)
            : await thread.check(bytes, operation);
        isKept = checked.ok;
        return checked.ok ? { ...checked, release } : checked;
      } finally {
        if (!isKept) release();
      }
    },
  };
}

type Received = { ok: true; bytes: Uint8Array<ArrayBuffer>; release: () => void } | Failure;

/** Receives the bytes of a body. A large one goes on only once its declared size, or else the cap, is reserved. */
async function receive(request: Request, maxBytes: number, budget: BodyBudget): Promise<Received> {
  const declared = Number(request.headers.get("content-length") ?? Number.NaN);
  if (declared > maxBytes) return tooLarge(maxBytes);
  const chunks: Uint8Array[] = [];
  let size = 0;
  let release: (() => void) | undefined;
  let isWhole = false;
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
    isWhole = true;
    return { ok: true, bytes: join(chunks, size), release: release ?? (() => {}) };
  } finally {
    if (!isWhole) release?.();
  }
}

/** Puts the chunks into one buffer of its own, which a thread can be given. */
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
