import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { createDeadline } from "#lib/time/deadline.ts";
import { createWorkMeter, type WorkMeter } from "#lib/time/work-meter.ts";
import type { Operation } from "../../contract/operation.ts";
import { type Failure, fail } from "../errors.ts";
import { type BodyBudget, createBodyBudget } from "./body-budget.ts";
import { createBodyThread } from "./body-thread.ts";
import { type CheckedBody, checkBody } from "./parse-body.ts";

/**
 * Maximum size of a body that is parsed on the main thread. 64 KiB of the smallest values (`{},`) take 10 ms there; 256
 * KiB took 40 ms, which anybody could cause through the annotation webhook.
 */
const LARGE_BODY_BYTES = 64 * 1024;
/**
 * Maximum total size of the large bodies that are processed at the same time. Each byte of a body needs about five
 * bytes of memory, for the bytes, the text, the value and the database statement.
 */
const BUDGET_BYTES = 32 * 1024 * 1024;
/** The part of the budget that the bodies of one owner can use. It holds the largest body, an import of 10 MiB. */
const OWNER_BYTES = 16 * 1024 * 1024;
/** The part for all requests without a credential. Their bodies are annotations of at most 256 KiB. */
const ANONYMOUS_BYTES = 4 * 1024 * 1024;
/**
 * The rate at which the large bodies of one owner are read. Reading 137 MB per second, which a client on the same machine
 * can send, took half of the main thread's time.
 */
const OWNER_BYTES_PER_S = 32 * 1024 * 1024;
/** How many milliseconds of its rate an owner can use at once: half a second is one owner's part of the budget. */
const BURST_MS = 500;
/** How long a part of a body waits at most. Bodies that a client abandons must not delay its next ones for long. */
const PACE_WAIT_MAX_MS = 1_000;
const WAIT_MS = 10_000;
const RETRY_AFTER_SECONDS = 5;
/**
 * A body must arrive at this rate, apart from a first time without data. A slow mobile connection sends several times
 * as much; a client that holds bodies open to use up the budget does not.
 */
const RATE_MIN_BYTES_PER_S = 16 * 1024;
const GRACE_MS = 5_000;

/**
 * A body that was read, or a refusal. The caller must call `release` after answering, to release the body's part of the
 * budget.
 */
export type ReadBody = (Extract<CheckedBody, { ok: true }> & { release: () => void }) | Failure;

type ReadOptions = {
  /** Reading stops after this number of bytes. */
  maxBytes: number;
  /** Who sends the body. The bodies of one owner share a part of the budget. Undefined without a credential. */
  owner: string | undefined;
  /** The operation whose schema the body must match. Without one, the body can be any JSON. */
  operation?: Operation;
};

export type BodyReader = {
  /** Reads a request's body as JSON. With `operation`, also validates it against the operation's body schema. */
  read: (request: Request, options: ReadOptions) => Promise<ReadBody>;
  /** Reads a request's body as bytes of any type, within the same budget. */
  readBytes: (request: Request, options: ReadOptions) => Promise<ReadBody>;
};

type ReaderSettings = {
  /** The largest body that the platform passes on, whatever the operation accepts. */
  platformBytesMax: number;
  /** Total size of the large bodies that are processed at the same time. */
  budgetBytes: number;
  ownerBytes: number;
  ownerBytesPerS: number;
  /** How long a part of a body waits for its owner's rate at most. */
  paceWaitMaxMs: number;
  /** How long a large body waits for the budget before it is refused. */
  waitMs: number;
  /** How long a body may take in addition to the time that its bytes need at the lowest rate. */
  graceMs: number;
};

/**
 * Creates the reader of request bodies. A small body is parsed and validated on the main thread. As soon as more than
 * 64 KiB of a body have arrived, the reader takes every further part from a budget that all requests share. Such a large
 * body is parsed, validated and hashed in a worker thread, so that the event loop can serve other requests.
 */
export function createBodyReader({
  platformBytesMax = Number.POSITIVE_INFINITY,
  budgetBytes = BUDGET_BYTES,
  ownerBytes = OWNER_BYTES,
  ownerBytesPerS = OWNER_BYTES_PER_S,
  paceWaitMaxMs = PACE_WAIT_MAX_MS,
  waitMs = WAIT_MS,
  graceMs = GRACE_MS,
}: Partial<ReaderSettings> = {}): BodyReader {
  const budget = createBodyBudget({ bytes: budgetBytes, waitMs });
  const pace = createWorkMeter(BURST_MS);
  const thread = createBodyThread();
  /** Receives a body, and converts it with `check`. */
  async function take(
    request: Request,
    { maxBytes: operationBytesMax, owner }: ReadOptions,
    check: (bytes: Uint8Array<ArrayBuffer>) => CheckedBody | Promise<CheckedBody>,
  ): Promise<ReadBody> {
    const maxBytes = Math.min(operationBytesMax, platformBytesMax);
    const tooLarge = () => refuseLarge(maxBytes, maxBytes < operationBytesMax);
    const declared = Number(request.headers.get("content-length") ?? Number.NaN);
    if (declared > maxBytes) return tooLarge();
    // Bodies without a credential are small and have a small part of the budget, so they need no pace.
    const waitForTurn = async (bytes: number) => {
      const ms = (bytes / ownerBytesPerS) * 1_000;
      if (owner !== undefined) await keepPace(pace, owner, ms, paceWaitMaxMs, request.signal);
    };
    const account = openAccount(budget, waitForTurn, {
      owner: owner ?? "",
      shareBytes: owner === undefined ? Math.min(ANONYMOUS_BYTES, ownerBytes) : ownerBytes,
      maxBytes: declared || maxBytes,
      signal: request.signal,
    });
    let isHandedOver = false;
    try {
      const received = await receive(request, maxBytes, graceMs, account.reserve);
      if (received === "too_large") return tooLarge();
      if (!received.ok) return received;
      const checked = await check(received.bytes);
      isHandedOver = checked.ok;
      return checked.ok ? { ...checked, release: account.close } : checked;
    } finally {
      if (!isHandedOver) account.close();
    }
  }

  return {
    read: (request, options) =>
      take(request, options, (bytes) =>
        bytes.byteLength <= LARGE_BODY_BYTES
          ? checkBody(bytes, options.operation)
          : thread.check(bytes, options.operation),
      ),
    readBytes: (request, options) =>
      take(request, options, (bytes) => ({ ok: true, value: bytes, hash: () => hashBytes(bytes) })),
  };
}

const hashBytes = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** The account of a body in the budget. It is opened when the body turns out to be large. */
function openAccount(
  budget: BodyBudget,
  waitForTurn: (bytes: number) => Promise<void>,
  request: Parameters<BodyBudget["open"]>[0],
) {
  let opened: ReturnType<BodyBudget["open"]> | undefined;
  let size = 0;
  return {
    /** @returns false if the budget has no room for these further bytes. */
    async reserve(bytes: number): Promise<boolean> {
      size += bytes;
      if (size <= LARGE_BODY_BYTES) return true;
      await waitForTurn(bytes);
      if (opened) return opened.reserve(bytes);
      opened = budget.open(request);
      return opened.reserve(size);
    },
    close: () => opened?.close(),
  };
}

/**
 * Waits until a subject's rate allows work that takes `ms` milliseconds at this rate, for `maxMs` at most, or until the
 * signal is aborted.
 */
async function keepPace(
  pace: WorkMeter,
  subject: string,
  ms: number,
  maxMs: number,
  signal: AbortSignal,
): Promise<void> {
  const now = performance.now();
  const waitMs = pace.waitOf(subject, now, ms);
  if (waitMs <= maxMs) pace.add(subject, now, ms);
  if (waitMs > 0) await pause(Math.min(waitMs, maxMs), undefined, { signal }).catch(() => {});
}

type Received = { ok: true; bytes: Uint8Array<ArrayBuffer> } | Failure;

/**
 * Receives the bytes of a body. Calls `reserve` before it keeps further bytes. Refuses a body that is too large, that does
 * not fit into the budget, or that arrives too slowly. The time in which the reader waits for the budget does not count.
 */
async function receive(
  request: Request,
  maxBytes: number,
  graceMs: number,
  reserve: (bytes: number) => Promise<boolean>,
): Promise<Received | "too_large"> {
  const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = request.body?.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  let readingMs = 0;
  let isComplete = reader === undefined;
  try {
    while (reader && !isComplete) {
      const startedAt = performance.now();
      const leftMs = graceMs + (size / RATE_MIN_BYTES_PER_S) * 1_000 - readingMs;
      const part = await readWithin(reader, leftMs);
      readingMs += performance.now() - startedAt;
      if (part === undefined) return tooSlow();
      if (part.done) isComplete = true;
      else {
        size += part.value.byteLength;
        if (size > maxBytes) return "too_large";
        if (!(await reserve(part.value.byteLength))) return tooManyLarge();
        chunks.push(part.value);
      }
    }
    return { ok: true, bytes: join(chunks, size) };
  } finally {
    // Not awaited, because the stream of a stalled request settles only when its connection ends.
    if (!isComplete) reader?.cancel().catch(() => {});
  }
}

/** Reads the next part of a stream. @returns undefined if it does not arrive in time. */
const readWithin = (reader: ReadableStreamDefaultReader<Uint8Array>, ms: number) =>
  createDeadline({ ms }).race(reader.read(), () => undefined);

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

/** @param isPlatform whether the platform's limit is the smaller one. */
function refuseLarge(maxBytes: number, isPlatform: boolean): Failure {
  const limit = `${Math.floor(maxBytes / 1024).toLocaleString("en")} KiB`;
  const where = isPlatform ? " on the platform that this service runs on" : "";
  return fail("payload_too_large", `body: must be at most ${limit}${where}`);
}

const tooManyLarge = (): Failure =>
  fail("unavailable", "too many large bodies are being read; try again", {
    "Retry-After": String(RETRY_AFTER_SECONDS),
  });

/** The connection is closed, because the rest of the body would otherwise still be received. */
const tooSlow = (): Failure =>
  fail("request_timeout", "body: arrives too slowly; send at least 16 KiB per second", {
    Connection: "close",
  });
