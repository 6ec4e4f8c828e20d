import { hidePaths } from "#lib/text/error-text.ts";
/**
 * The HTTP status of every error code. Two are additions to the specification: `request_timeout`, because the body
 * arrives too slowly, and `unavailable`, because a component such as the database or a browser is unavailable, and the
 * same call may succeed after `Retry-After` seconds. Source: `wire.md`, Errors; specification, Errors.
 */
export const ERROR_STATUS = {
  invalid_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
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

/** An expected failure. It is returned as a value and not thrown. */
export type Failure = { ok: false; code: ErrorCode; error: string; headers?: Record<string, string> };

/** Creates a refusal. `error` is the message; if a field is wrong, the message begins with the name of the field. */
export const fail = (code: ErrorCode, error: string, headers?: Record<string, string>): Failure => ({
  ok: false,
  code,
  error,
  ...(headers && { headers }),
});

/**
 * Creates the response for a refusal. With `bare`, the body contains only the message, as the specification defines for
 * some operations.
 */
export function failureResponse(
  failure: Failure,
  options: { bare?: boolean; headers?: Record<string, string> } = {},
): Response {
  const error = hidePaths(failure.error);
  const body = options.bare ? { error } : { success: false, error, code: failure.code };
  return Response.json(body, {
    status: ERROR_STATUS[failure.code],
    headers: { ...failure.headers, ...options.headers },
  });
}
