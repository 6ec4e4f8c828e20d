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
  precondition_failed: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  idempotency_key_reused: 422,
  rate_limited: 429,
  internal: 500,
  auth_unavailable: 502,
  unavailable: 503,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;
