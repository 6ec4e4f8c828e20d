import type { RunCompletedCallback, RunStartedCallback } from "./wire.ts";

/** What the service posts to a callback's URL. */
export type CallbackBody = RunStartedCallback | RunCompletedCallback;

/**
 * A callback that proved to come from the service. `delivery` is the same on every attempt, and is a header that
 * `X-Service-Signature` does not cover: to take each once whoever sends it, go by the body's `event` and `runId`.
 */
export type VerifiedCallback = { event: CallbackBody["event"]; delivery: string; body: CallbackBody };

/** A callback that did not prove to come from the service. */
export class CallbackSignatureError extends Error {
  override name = "CallbackSignatureError";
}

type HeaderSource = Headers | Record<string, string | string[] | undefined>;

/**
 * Checks that a callback comes from the service, over the very bytes that arrived, in constant time. Where the delivery
 * carries the headers of Standard Webhooks, its time is signed too, and has to be near.
 *
 * @param received.headers of the request: `Headers`, or Node's `request.headers`.
 * @param received.body the raw body, before anything parsed it.
 * @param received.secret the one that the session was created with, or that a rotation has registered since; the
 * replaced one is accepted until the overlap ends.
 * @param received.toleranceMs how far the signed time may be away; default 5 minutes.
 * @throws CallbackSignatureError where a signature is missing, wrong or too old.
 */
export async function verifyCallback(received: {
  headers: HeaderSource;
  body: string | Uint8Array;
  secret: string;
  toleranceMs?: number | undefined;
  now?: (() => number) | undefined;
}): Promise<VerifiedCallback> {
  const { headers, secret, toleranceMs = 5 * 60_000, now = Date.now } = received;
  const bytes = typeof received.body === "string" ? encode(received.body) : received.body;
  const signature = readSignature(headers, "x-service-signature");
  if (signature === undefined)
    throw new CallbackSignatureError("X-Service-Signature is missing or malformed");
  const key = await importKey(secret);
  // During the overlap of a rotation there is one by the secret that was replaced.
  const previous = readSignature(headers, "x-service-signature-previous");
  const candidates = [signature, ...(previous === undefined ? [] : [previous])];
  const fits = await Promise.all(candidates.map((each) => verify(key, decodeHex(each), bytes)));
  if (!fits.includes(true)) throw new CallbackSignatureError("X-Service-Signature does not fit the body");
  await checkTime(headers, key, bytes, { toleranceMs, now });
  const body = JSON.parse(new TextDecoder().decode(bytes)) as CallbackBody;
  return { event: body.event, delivery: readHeader(headers, "x-service-delivery") ?? "", body };
}

/** The Standard Webhooks signatures, where there are any: one of them has to fit, and the time has to be near. */
async function checkTime(
  headers: HeaderSource,
  key: CryptoKey,
  bytes: Uint8Array,
  { toleranceMs, now }: { toleranceMs: number; now: () => number },
): Promise<void> {
  const signatures = readHeader(headers, "webhook-signature");
  if (signatures === undefined) return;
  const [id = "", timestamp = ""] = ["webhook-id", "webhook-timestamp"].map((name) =>
    readHeader(headers, name),
  );
  const signed = concatenate(encode(`${id}.${timestamp}.`), bytes);
  const candidates = signatures
    .split(" ")
    .flatMap((each) => (each.startsWith("v1,") ? decodeBase64(each.slice(3)) : []));
  const results = await Promise.all(candidates.map((candidate) => verify(key, candidate, signed)));
  if (!results.includes(true))
    throw new CallbackSignatureError("webhook-signature does not fit the body and its time");
  // `NaN` is not near either.
  if (!(Math.abs(now() - Number(timestamp) * 1_000) <= toleranceMs))
    throw new CallbackSignatureError("webhook-timestamp is too far away");
}

const readSignature = (headers: HeaderSource, name: string): string | undefined =>
  /^sha256=([0-9a-f]{64})$/.exec(readHeader(headers, name) ?? "")?.[1];

const importKey = (secret: string) =>
  crypto.subtle.importKey("raw", encode(secret), { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);

/** Web Crypto compares in constant time. */
const verify = (key: CryptoKey, signature: Uint8Array<ArrayBuffer>, bytes: Uint8Array) =>
  crypto.subtle.verify("HMAC", key, signature, concatenate(bytes));

const encode = (text: string) => concatenate(new TextEncoder().encode(text));

function concatenate(...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.byteLength;
  }
  return whole;
}

const decodeHex = (hex: string) =>
  Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

function decodeBase64(text: string): Uint8Array<ArrayBuffer>[] {
  try {
    return [Uint8Array.from(atob(text), (character) => character.charCodeAt(0))];
  } catch {
    return [];
  }
}

function readHeader(headers: HeaderSource, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const entry = Object.entries(headers).find(([key]) => key.toLowerCase() === name);
  const [value] = [entry?.[1]].flat();
  return value;
}
