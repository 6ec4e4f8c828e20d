import { isGuardedFetchError } from "#lib/net/fetch/guarded-fetch-error.ts";
import type { GuardedPost, PostAnswer } from "#lib/net/fetch/guarded-post.ts";
import { isRedirect } from "#lib/net/fetch/redirect-hop.ts";
import { readRetryAfter } from "./retry-schedule.ts";
import { signBody, signWebhook } from "./sign-body.ts";

/** A callback to send. */
type Callback = {
  id: string;
  sessionId: string;
  event: string;
  url: string;
  secret: string | null;
  /** A replaced secret whose overlap has not ended. The callback is signed with it as well. */
  previousSecret?: string | null;
  body: Uint8Array;
};

/** The result of an exchange with a receiver; `error` is null if the receiver accepted the callback. */
export type Exchange = {
  /** The HTTP status; null without a response. */
  status: number | null;
  error: string | null;
  latencyMs: number;
  /** The beginning of the receiver's response; null without a response, or if it contains no text. */
  excerpt: string | null;
  /** The delay that the receiver asked for with `Retry-After`. */
  retryAfterMs?: number | undefined;
  /**
   * If true, this service could not send the callback because of its own key or settings; the receiver is not at fault.
   */
  isOurs?: boolean;
};

/** Maximum number of bytes that are read from a receiver's response. */
const ANSWER_BYTES_MAX = 16_384;

/**
 * Posts a callback once. Only the status of the answer counts: a redirect, a status outside 2xx, a refused address and a
 * missed deadline are failures and are returned as values. The body is not decoded, and nothing in it changes the
 * result. Source: specification, Run lifecycle callbacks; `security.md`, What is never lost.
 *
 * @param options.timeoutMs deadline of the exchange.
 * @throws errors that the receiver did not cause, such as an abort or a bug. An attempt that throws does not count.
 */
export async function sendCallback(
  post: GuardedPost,
  callback: Callback,
  options: { timeoutMs: number; now: () => Date; signal?: AbortSignal | undefined },
): Promise<Exchange> {
  const startedAt = performance.now();
  const measureMs = () => Math.round(performance.now() - startedAt);
  try {
    const answer = await post(callback.url, {
      headers: describeHeaders(callback, options.now()),
      body: callback.body,
      timeoutMs: options.timeoutMs,
      maxBytes: ANSWER_BYTES_MAX,
      purpose: { source: "callback", sessionId: callback.sessionId },
      signal: options.signal,
    });
    return { ...classifyStatus(answer, options.now()), latencyMs: measureMs(), excerpt: excerptOf(answer) };
  } catch (error) {
    // A shutdown of the service closes its connections, so the receiver did not cause the error.
    if (!isGuardedFetchError(error) || error.kind === "aborted" || options.signal?.aborted) throw error;
    return { status: null, error: error.message, latencyMs: measureMs(), excerpt: null };
  }
}

function classifyStatus(
  { status, headers }: PostAnswer,
  now: Date,
): Pick<Exchange, "status" | "error" | "retryAfterMs"> {
  if (status >= 200 && status < 300) return { status, error: null };
  const error = isRedirect(status)
    ? `the receiver answered with a redirect (${status}), which is not followed`
    : `the receiver answered ${status}`;
  return { status, error, retryAfterMs: readRetryAfter(headers["retry-after"] ?? null, now) };
}

/** Returns the beginning of the answer's body; null if it contains no text, or is encoded. */
function excerptOf({ headers, body }: PostAnswer): string | null {
  const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? "";
  return encoding === "" || encoding === "identity" ? readExcerpt(body) : null;
}

/**
 * Composes the headers of the specification and of Standard Webhooks. The timestamp is the time of the attempt.
 * `X-Service-Signature` is always made with the current secret, as the specification demands. The signature with the
 * previous secret has its own header, and `Webhook-Signature` contains the signatures with both secrets.
 */
function describeHeaders(callback: Callback, now: Date): Record<string, string> {
  const { id, secret, previousSecret = null, body } = callback;
  const timestamp = Math.floor(now.getTime() / 1_000);
  return {
    "Content-Type": "application/json",
    "Accept-Encoding": "identity",
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

/** Maximum number of characters of a receiver's response that are stored. */
const CHARACTERS_MAX = 500;
/**
 * Matches the replacement character, invisible (bidi) marks, and all control characters other than line breaks and
 * tabs.
 */
const UNPRINTABLE = /[^\P{C}\n\t]|\ufffd/gu;

/**
 * Returns the beginning of a receiver's response as text that is safe to show and to store; null if the response
 * contains no text. The response is always read as UTF-8, whatever its content type is.
 */
export function readExcerpt(body: Uint8Array): string | null {
  // A character has at most four bytes. If the last character is cut, it becomes a replacement character and is
  // removed.
  const text = new TextDecoder().decode(body.subarray(0, CHARACTERS_MAX * 4)).replace(UNPRINTABLE, "");
  const excerpt = [...text].slice(0, CHARACTERS_MAX).join("").trim();
  return excerpt === "" ? null : excerpt;
}
