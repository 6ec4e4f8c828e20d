import type {
  RunCompletedCallback,
  RunResumedCallback,
  RunStartedCallback,
  RunWaitingCallback,
} from "./wire.ts";

/** The body that the service posts to a callback URL. */
export type CallbackBody =
  | RunStartedCallback
  | RunCompletedCallback
  | RunWaitingCallback
  | RunResumedCallback;

/**
 * A callback with a valid signature. `delivery` is the value of the header `X-Service-Delivery`, or empty if the header
 * is missing. The value is the same on every attempt, but the signature does not cover the header. To process each
 * callback once, compare the body's `event` and `runId` instead, and the id of its `item` if it has one.
 */
export type VerifiedCallback = { event: CallbackBody["event"]; delivery: string; body: CallbackBody };

/** Thrown for a callback without a valid signature. */
export class CallbackSignatureError extends Error {
  override name = "CallbackSignatureError";
}

type HeaderSource = Headers | Record<string, string | string[] | undefined>;

/**
 * Checks in constant time that the service signed a callback. The signature covers the exact bytes of the body. If the
 * callback has the headers of Standard Webhooks, the time in these headers is signed too and must be close to now.
 *
 * @param received.headers the request's headers: `Headers`, or Node's `request.headers`.
 * @param received.body the raw body, before any parsing.
 * @param received.secret the callback secret of the session. During the overlap after a rotation, both the old and the
 * new secret are accepted.
 * @param received.toleranceMs the largest accepted difference between the signed time and now. Default 5 minutes.
 * @throws CallbackSignatureError if a signature is missing or wrong, or if the signed time is too far from now.
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
  // During the overlap after a rotation of the secret, this header has a signature that was made with the old secret.
  const previous = readSignature(headers, "x-service-signature-previous");
  const candidates = [signature, ...(previous === undefined ? [] : [previous])];
  const results = await Promise.all(candidates.map((each) => verify(key, decodeHex(each), bytes)));
  if (!results.includes(true))
    throw new CallbackSignatureError("X-Service-Signature does not match the body");
  await checkTime(headers, key, bytes, { toleranceMs, now });
  const body = JSON.parse(new TextDecoder().decode(bytes)) as CallbackBody;
  return { event: body.event, delivery: readHeader(headers, "x-service-delivery") ?? "", body };
}

/**
 * Checks the signatures of Standard Webhooks if the callback has any. One signature must match, and the signed time
 * must be close to now.
 */
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
    throw new CallbackSignatureError("webhook-signature does not match the body and its time");
  // Written as a negation so that `NaN` is rejected too.
  if (!(Math.abs(now() - Number(timestamp) * 1_000) <= toleranceMs))
    throw new CallbackSignatureError("webhook-timestamp is too far from now");
}

const readSignature = (headers: HeaderSource, name: string): string | undefined =>
  /^sha256=([0-9a-f]{64})$/.exec(readHeader(headers, name) ?? "")?.[1];

const importKey = (secret: string) =>
  crypto.subtle.importKey("raw", encode(secret), { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);

/** Verifies an HMAC. Web Crypto compares in constant time. */
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
