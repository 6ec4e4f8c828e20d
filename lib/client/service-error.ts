/**
 * An error that the service returned. The client itself creates such an error if a live connection is refused, or if it
 * waits for a result that the session cannot have.
 */
export class ApiError extends Error {
  override name = "ApiError";
  /**
   * HTTP status. If the service closed a live connection, the status that corresponds to the close code. 0 if the
   * client waited for a result of a session that has no `outputSchema`.
   */
  readonly status: number;
  /** Machine-readable error code, such as `invalid_request`. Empty if the response has no code. */
  readonly code: string;
  /**
   * Path of the field that `message` is about, such as `messages[0].role`. Undefined if `message` names no field, and
   * for each status except 400 and 422.
   */
  readonly field: string | undefined;
  /**
   * Milliseconds to wait before a retry, from the `Retry-After` header. Undefined if the response has no such header.
   */
  readonly retryAfterMs: number | undefined;

  constructor(answer: { status: number; code: string; message: string; retryAfterMs?: number | undefined }) {
    super(answer.message);
    this.status = answer.status;
    this.code = answer.code;
    this.field = answer.status === 400 || answer.status === 422 ? readField(answer.message) : undefined;
    this.retryAfterMs = answer.retryAfterMs;
  }
}

/** Thrown if a run ends without the result that the session's `outputSchema` requires. */
export class DeliverableError extends Error {
  override name = "DeliverableError";
  readonly runId: string;
  /** The text that the model wrote instead of a result. Undefined if the text is unknown. */
  readonly rawText: string | undefined;

  constructor(deliverable: { runId: string; error: string; rawText?: string | undefined }) {
    super(deliverable.error);
    this.runId = deliverable.runId;
    this.rawText = deliverable.rawText;
  }
}

/** Thrown if the timeout ends before the request is completed or its result is ready. The session continues. */
export class WaitTimeoutError extends Error {
  override name = "WaitTimeoutError";
  readonly timeoutMs: number;

  constructor(timeoutMs: number) {
    super(`the wait timed out after ${timeoutMs} ms`);
    this.timeoutMs = timeoutMs;
  }
}

/**
 * Thrown if no readable answer arrived: the service was not reached, the connection was lost, or the answer was invalid
 * JSON. The service may have received the request nevertheless.
 */
export class ConnectionError extends Error {
  override name = "ConnectionError";
}

/**
 * Reads the field path at the start of an error message such as `messages[0].role: must be …` or
 * `delegation.maxLiveBrowsers (2) must …`.
 */
function readField(sentence: string): string | undefined {
  const path =
    /^([A-Za-z_$][\w$-]*(?:\.[\w$-]+|\[(?:\d+|"(?:[^"\\]|\\.)*")\])*)(?:: | \(| (?:is|must)\b)/.exec(
      sentence,
    )?.[1];
  return path === "body" || path === "query" ? undefined : path;
}

/** Converts an error response to an `ApiError`. */
export async function readApiError(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => "");
  const body = parseObject(text);
  const { error, code } = body;
  return new ApiError({
    status: response.status,
    code: typeof code === "string" ? code : "",
    message: typeof error === "string" ? error : `the service answered ${response.status}`,
    retryAfterMs: readRetryAfter(response.headers.get("retry-after")),
  });
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** Converts `Retry-After` to milliseconds. The header is a number of seconds or a date. */
function readRetryAfter(header: string | null): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header) * 1_000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

/** Whether a retry may succeed: the connection was lost, or the status is 429 or 5xx. */
export const isTransient = (error: unknown): boolean =>
  error instanceof ConnectionError ||
  (error instanceof ApiError && (error.status === 429 || error.status >= 500));
