import { hidePaths } from "#lib/text/error-text.ts";
import { beginningOf } from "#lib/text/whole-characters.ts";
import { AnswerTooLargeError } from "./calls/answer-limits.ts";

/** A failed model call, as a value that is safe to store and show. */
export type ModelFailure = {
  /** The provider's message if it is safe to show, otherwise a general sentence. */
  message: string;
  isRetryable: boolean;
  statusCode?: number;
  retryAfterMs?: number;
};

type Fields = Record<string, unknown>;

const MESSAGE_CHARACTERS_MAX = 1_000;
const NETWORK_CODES = new Set([
  "ECONNRESET",
  "ECONNREFUSED",
  "ECONNABORTED",
  "ETIMEDOUT",
  "EPIPE",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_SOCKET",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
]);

/** Replacement messages, keyed by error name. The original messages quote the response or the prompt. */
const quotingErrors: Record<string, { message: string; isRetryable: boolean }> = {
  AI_TypeValidationError: unreadable("an answer of an unknown form"),
  AI_JSONParseError: unreadable("an answer that is not JSON"),
  AI_InvalidResponseDataError: unreadable("an answer of an unknown form"),
  AI_InvalidStreamPartError: unreadable("an unknown part in its stream"),
  AI_EmptyResponseBodyError: unreadable("an empty answer"),
  AI_InvalidPromptError: { message: "The transcript cannot be sent to this model.", isRetryable: false },
  AI_MissingToolResultsError: { message: "A tool call in the transcript has no result.", isRetryable: false },
  AI_NoContentGeneratedError: unreadable("an answer without content"),
  UnfinishedAnswerError: unreadable("an answer without its end"),
};

function unreadable(what: string) {
  return { message: `The model provider sent ${what}.`, isRetryable: true };
}

/** Matches the complete message of an overloaded server that reports no HTTP status. */
const OVERLOADED = /^(?:overloaded(?: error)?|model overloaded|service unavailable)\.?$/i;

/** The failure of a call that took longer than its deadline. */
export const MODEL_TIMED_OUT: ModelFailure = {
  message: "The model provider did not answer in time.",
  isRetryable: true,
};
const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null;
const textOf = (value: unknown) =>
  typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;

/**
 * Converts an error that a model call threw, or that the provider reported in the stream, to a {@link ModelFailure}.
 * Reads the status and `Retry-After` of provider errors, and recognizes timeouts and lost connections. The result
 * contains no part of the request: no body, no prompt, no key. Never throws.
 *
 * @param now the clock in milliseconds, for a `Retry-After` that is a date.
 */
export function readModelFailure(error: unknown, now: () => number = Date.now): ModelFailure {
  const found = unwrap(error);
  // The reason of an aborted stream arrives as a string.
  if (typeof found === "string" && found.startsWith("TimeoutError")) return { ...MODEL_TIMED_OUT };
  if (!isFields(found))
    return { message: clean(textOf(found) ?? "The model call failed."), isRetryable: false };

  const name = textOf(found.name) ?? "";
  if (name === "TimeoutError") return { ...MODEL_TIMED_OUT };
  if (name === "AbortError") return { message: "The model call was stopped.", isRetryable: false };
  // A retry would cost as much, and its answer would probably be as large.
  if (found instanceof AnswerTooLargeError) return { message: found.message, isRetryable: false };
  const quoting = quotingErrors[name];
  if (quoting !== undefined) return { ...quoting };

  const statusCode = readStatus(found);
  const isFailedStatus = statusCode !== undefined && statusCode >= 400;
  if (!isFailedStatus && hasNetworkCause(found)) {
    return { message: "The connection to the model provider failed.", isRetryable: true };
  }
  const retryAfterMs = isFields(found.responseHeaders)
    ? readRetryAfterMs(found.responseHeaders, now)
    : undefined;
  return {
    message: clean(readSentence(found, statusCode)),
    isRetryable: readRetryable(found, statusCode),
    ...(isFailedStatus ? { statusCode } : {}),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

/**
 * Reads the HTTP status of an error. Servers use several field names for the status, and some overloaded servers omit
 * it.
 */
function readStatus(error: Fields): number | undefined {
  if (typeof error.statusCode === "number") return error.statusCode;
  for (const field of ["status_code", "status", "code"]) {
    const status = Number(error[field]);
    if (Number.isInteger(status) && status >= 400 && status <= 599) return status;
  }
  return OVERLOADED.test(textOf(error.message) ?? "") ? 503 : undefined;
}

/** Returns the error inside the SDK's wrappers. */
function unwrap(error: unknown): unknown {
  let current = error;
  for (let depth = 0; depth < 5 && isFields(current); depth += 1) {
    const inner =
      current.name === "AI_RetryError"
        ? current.lastError
        : isWrapper(current)
          ? current.cause
          : // A stream part { type: "error", error }, or a provider's own frame { error: { message } }.
            current instanceof Error
            ? undefined
            : current.error;
    if (!isFields(inner)) return current;
    current = inner;
  }
  return current;
}

/**
 * Whether an error is the SDK's wrapper for a response that could not be processed. Only the wrapped cause is
 * informative.
 */
function isWrapper(error: Fields): boolean {
  const isOkStatus = typeof error.statusCode !== "number" || error.statusCode < 400;
  return isOkStatus && error.message === "Failed to process successful response" && !hasNetworkCause(error);
}

function hasNetworkCause(error: Fields): boolean {
  let current: unknown = error;
  for (let depth = 0; depth < 6 && isFields(current); depth += 1) {
    if (typeof current.code === "string" && NETWORK_CODES.has(current.code)) return true;
    if (current.message === "terminated" || current.message === "fetch failed") return true;
    current = current.cause;
  }
  return false;
}

function readRetryable(error: Fields, statusCode: number | undefined): boolean {
  // An exhausted quota has status 429, like a rate limit, but a retry cannot succeed.
  const data = isFields(error.data) ? error.data : {};
  const inner = isFields(data.error) ? data.error : data;
  const words = [error.code, error.type, inner.code, inner.type];
  if (words.includes("insufficient_quota")) return false;
  if (typeof error.isRetryable === "boolean") return error.isRetryable;
  if (statusCode === undefined) return false;
  return statusCode === 408 || statusCode === 409 || statusCode === 429 || statusCode >= 500;
}

/**
 * Reads the provider's message: from the parsed data, from a body in another format than OpenAI's, or from the error.
 */
function readSentence(error: Fields, statusCode: number | undefined): string {
  const own = textOf(error.message);
  const data =
    isFields(error.data) && isFields(error.data.error) ? textOf(error.data.error.message) : undefined;
  const sentence = data ?? readBodySentence(error.responseBody) ?? own;
  return (
    sentence ??
    (statusCode === undefined ? "The model call failed." : `The model provider answered ${statusCode}.`)
  );
}

function readBodySentence(responseBody: unknown): string | undefined {
  if (typeof responseBody !== "string" || responseBody.length > 100_000) return undefined;
  try {
    const body: unknown = JSON.parse(responseBody);
    if (!isFields(body)) return undefined;
    const inner = isFields(body.error) ? textOf(body.error.message) : textOf(body.error);
    return inner ?? textOf(body.message) ?? textOf(body.detail);
  } catch {
    return undefined;
  }
}

/**
 * Reads `retry-after-ms`, or `retry-after` as seconds or as a date. Undefined if no header is valid, or if the date is
 * past.
 */
function readRetryAfterMs(headers: Fields, now: () => number): number | undefined {
  const milliseconds = Number.parseFloat(textOf(headers["retry-after-ms"]) ?? "");
  if (milliseconds >= 0) return Math.ceil(milliseconds);
  const value = textOf(headers["retry-after"]);
  if (value === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1_000);
  const waitMs = Date.parse(value) - now();
  return waitMs > 0 ? waitMs : undefined;
}

/**
 * Removes texts that look like credentials, because providers quote a wrong key in their message, and paths of this
 * machine, because the error may be that of a file. Limits the length.
 * Replaces NUL characters and lone surrogates, which the database rejects.
 */
function clean(message: string): string {
  const cleaned = hidePaths(message)
    .replace(/\bBearer\s+\S+/gi, "Bearer [removed]")
    .replace(/\b(?:sk|pk|vck|key)[-_][\w*.-]{4,}/gi, "[key removed]");
  return beginningOf(cleaned, MESSAGE_CHARACTERS_MAX).replaceAll("\0", "\ufffd").toWellFormed();
}
