import { type GuardedFetch, isGuardedFetchError } from "#lib/net/fetch/guarded-fetch.ts";
import { readRetryAfter } from "./retry-schedule.ts";
import { signBody, signWebhook } from "./sign-body.ts";

/** One callback as it goes over the wire. */
type Callback = {
  id: string;
  sessionId: string;
  event: string;
  url: string;
  secret: string | null;
  /** A secret that was replaced, and signs too until its overlap ends. */
  previousSecret?: string | null;
  body: Uint8Array;
};

/** How an exchange with a receiver ended; `error` is null when the receiver accepted. */
export type Exchange = {
  /** HTTP status, or null where none came. */
  status: number | null;
  error: string | null;
  latencyMs: number;
  /** The beginning of the receiver's answer; null where none came, or none that is text. */
  excerpt: string | null;
  /** What the receiver asked for with `Retry-After`. */
  retryAfterMs?: number | undefined;
  /** No further attempt is to follow, whatever its number. */
  isFinal?: boolean;
  /** Not sent because of this service (its key, its settings), which says nothing about the receiver. */
  isOurs?: boolean;
};

/** At most this much of a receiver's answer is read. */
const ANSWER_BYTES_MAX = 16_384;

/**
 * Posts a callback once. A redirect, a status outside 2xx, a refused address and a missed deadline are failures and
 * come back as values. Source: specification, Run lifecycle callbacks; `security.md`, What is never lost.
 *
 * @param options.timeoutMs deadline over the whole exchange.
 * @throws what is not the receiver's doing: the signal's abort, a bug. Such an attempt does not count.
 */
export async function sendCallback(
  fetch: GuardedFetch,
  callback: Callback,
  options: { timeoutMs: number; now: () => Date; signal?: AbortSignal | undefined },
): Promise<Exchange> {
  const startedAt = performance.now();
  try {
    const answer = await fetch(callback.url, {
      method: "POST",
      headers: describeHeaders(callback, options.now()),
      body: callback.body,
      timeoutMs: options.timeoutMs,
      maxBytes: ANSWER_BYTES_MAX,
      overflow: "truncate",
      redirect: "error",
      purpose: { source: "callback", sessionId: callback.sessionId },
      ...(options.signal && { signal: options.signal }),
    });
    const latencyMs = Math.round(answer.latencyMs);
    const { status } = answer;
    const excerpt = readExcerpt(answer.body);
    if (status >= 200 && status < 300) return { status, error: null, latencyMs, excerpt };
    const retryAfterMs = readRetryAfter(answer.headers.get("retry-after"), options.now());
    return { status, error: `the receiver answered ${status}`, latencyMs, excerpt, retryAfterMs };
  } catch (error) {
    // Ending the service ends its connections; that is no answer of the receiver.
    if (!isGuardedFetchError(error) || error.kind === "aborted" || options.signal?.aborted) throw error;
    const latencyMs = Math.round(performance.now() - startedAt);
    return { status: error.status ?? null, error: error.message, latencyMs, excerpt: null };
  }
}

/**
 * The specification's headers and those of Standard Webhooks, whose time is the attempt's own. During the
 * overlap of a rotation `X-Service-Signature` is that of the registered secret, as the specification has it; the one of
 * the previous secret has a header of its own, and is a further signature in `Webhook-Signature`.
 */
function describeHeaders(callback: Callback, now: Date): Record<string, string> {
  const { id, secret, previousSecret = null, body } = callback;
  const timestamp = Math.floor(now.getTime() / 1_000);
  return {
    "Content-Type": "application/json",
    "User-Agent": "agent-session-service",
    "X-Service-Event": callback.event,
    "X-Service-Delivery": id,
    "Webhook-Id": id,
    "Webhook-Timestamp": String(timestamp),
    ...(secret !== null && {
      "X-Service-Signature": signBody(secret, body),
      "Webhook-Signature": [secret, ...(previousSecret === null ? [] : [previousSecret])]
        .map((each) => signWebhook(each, id, timestamp, body))
        .join(" "),
    }),
    ...(secret !== null &&
      previousSecret !== null && { "X-Service-Signature-Previous": signBody(previousSecret, body) }),
  };
}

/** How many characters of a receiver's answer are kept. */
const CHARACTERS_MAX = 500;
/** Controls but for line breaks and tabs, invisible marks (some turn text around), and what stands for broken bytes. */
const UNPRINTABLE = /[^\P{C}\n\t]|\ufffd/gu;

/**
 * The beginning of a receiver's answer as text that people may be shown and a database takes; null where there is none.
 * Whatever it is said to be, it is read as UTF-8 and never as markup.
 */
export function readExcerpt(body: Uint8Array): string | null {
  // No character takes more than four bytes; what is cut in two at the end goes with the broken ones.
  const text = new TextDecoder().decode(body.subarray(0, CHARACTERS_MAX * 4)).replace(UNPRINTABLE, "");
  const excerpt = [...text].slice(0, CHARACTERS_MAX).join("").trim();
  return excerpt === "" ? null : excerpt;
}
