/** A refusal of the service: what it answered instead of doing what it was asked. */
export class ApiError extends Error {
  override name = "ApiError";
  /** HTTP status. */
  readonly status: number;
  /** The refusal's code, by which programs go: `invalid_request`, `not_found`, …; empty where the answer had none. */
  readonly code: string;
  /** Path of the field that the sentence is about, `messages[0].role`; undefined where it is about none. */
  readonly field: string | undefined;
  /** How long the service asked to be left alone, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(told: { status: number; code: string; message: string; retryAfterMs?: number | undefined }) {
    super(told.message);
    this.status = told.status;
    this.code = told.code;
    this.field = told.status === 400 || told.status === 422 ? readField(told.message) : undefined;
    this.retryAfterMs = told.retryAfterMs;
  }
}

/** A run of a structured session that ended without a result. */
export class DeliverableError extends Error {
  override name = "DeliverableError";
  readonly runId: string;
  /** What the model wrote instead, where it is known. */
  readonly rawText: string | undefined;

  constructor(failed: { runId: string; error: string; rawText?: string | undefined }) {
    super(failed.error);
    this.runId = failed.runId;
    this.rawText = failed.rawText;
  }
}

/** What was waited for did not come in time. The session goes on. */
export class WaitTimeoutError extends Error {
  override name = "WaitTimeoutError";
  readonly timeoutMs: number;

  constructor(timeoutMs: number) {
    super(`nothing came within ${timeoutMs} ms`);
    this.timeoutMs = timeoutMs;
  }
}

/** The service was not reached, or the connection to it broke off. What was sent may have arrived. */
export class ConnectionError extends Error {
  override name = "ConnectionError";
}

/** The path that a sentence begins with: `messages[0].role: must be …`, `delegation.maxLiveBrowsers (2) must …`. */
function readField(sentence: string): string | undefined {
  const path =
    /^([A-Za-z_$][\w$-]*(?:\.[\w$-]+|\[(?:\d+|"(?:[^"\\]|\\.)*")\])*)(?:: | \(| (?:is|must)\b)/.exec(
      sentence,
    )?.[1];
  return path === "body" || path === "query" ? undefined : path;
}

/** The error that an answer stands for. */
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

/** `Retry-After` in milliseconds: seconds, or a date. */
function readRetryAfter(header: string | null): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header) * 1_000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

/** Whether the same call may succeed later: the way there was broken, or the service asked to come back. */
export const isPassing = (error: unknown): boolean =>
  error instanceof ConnectionError ||
  (error instanceof ApiError && (error.status === 429 || error.status >= 500));
