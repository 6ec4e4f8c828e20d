/**
 * Every error code and its HTTP status. Source: `wire.md`, Errors; specification, Errors. `unavailable` is added: the
 * database or a browser is away, and the same call may succeed after `Retry-After` seconds.
 */
export const ERROR_STATUS = {
  invalid_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  gone: 410,
  payload_too_large: 413,
  unsupported_media_type: 415,
  idempotency_key_reused: 422,
  rate_limited: 429,
  internal: 500,
  auth_unavailable: 502,
  unavailable: 503,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** A refusal: what went wrong, as a value. */
export type Failure = { ok: false; code: ErrorCode; error: string; headers?: Record<string, string> };

/** A refusal; `error` is a sentence that names the field it is about, where there is one. */
export const fail = (code: ErrorCode, error: string, headers?: Record<string, string>): Failure => ({
  ok: false,
  code,
  error,
  ...(headers && { headers }),
});

/** The one error envelope; `bare` leaves out all but the sentence, where the specification prints it so. */
export function failureResponse(
  failure: Failure,
  options: { bare?: boolean; headers?: Record<string, string> } = {},
): Response {
  const body = options.bare
    ? { error: failure.error }
    : { success: false, error: failure.error, code: failure.code };
  return Response.json(body, {
    status: ERROR_STATUS[failure.code],
    headers: { ...failure.headers, ...options.headers },
  });
}
