import type { ErrorCode } from "../../contract/error-codes.ts";

/** Meaning of each error code, with an example message. Source: specification, Errors; `wire.md`, Errors. */
export const ERROR_DOCS: Record<ErrorCode, { description: string; example: string }> = {
  invalid_request: {
    description:
      "The body, a parameter or a header is invalid. The message names the field. Nothing was stored.",
    example: "subAgents: must be a boolean",
  },
  unauthorized: {
    description: "The API key, share link or login is missing or invalid.",
    example: "send a valid API key as Authorization: Bearer <API_KEY> or X-Service-Api-Key: <API_KEY>",
  },
  forbidden: {
    description: "The credential is valid but does not allow this operation.",
    example: "this share link may view, not drive",
  },
  not_found: {
    description: "The resource does not exist, or it belongs to another owner.",
    example: "no such session",
  },
  method_not_allowed: {
    description: "The path does not support this method. `Allow` lists the supported methods.",
    example: "method: must be POST",
  },
  request_timeout: {
    description: "The body arrives too slowly. The connection is closed.",
    example: "body: arrives too slowly; send at least 16 KiB per second",
  },
  conflict: {
    description:
      "The state of the resource does not allow the operation, or a limit is reached, such as the length of the session's queue.",
    example: "this message no longer waits: its turn has started, or it was removed",
  },
  gone: {
    description: "The release was unpublished.",
    example: "this release was unpublished",
  },
  precondition_failed: {
    description: "The file is not the one that `If-Match` or `If-None-Match` names. Nothing was changed.",
    example: "path: notes/a.md exists already",
  },
  payload_too_large: { description: "The body is too large.", example: "body: must be at most 8,192 KiB" },
  range_not_satisfiable: {
    description: "The file has no byte of the requested range. `Content-Range` has its size.",
    example: "Range: the file has 120 bytes",
  },
  unsupported_media_type: {
    description: "The content type of the body is not JSON.",
    example: "content-type: must be application/json",
  },
  idempotency_key_reused: {
    description: "The `idempotencyKey` was used before with a different body.",
    example: "idempotencyKey: was used before with another body",
  },
  rate_limited: {
    description: "Too many requests. Retry after `Retry-After` seconds.",
    example: "too many requests; try again in 3 s",
  },
  internal: {
    description: "The service failed. Its log has the details.",
    example: "something went wrong on our side; the service's log has the reason",
  },
  auth_unavailable: {
    description: "The API key could not be verified because the key store is unavailable. Retry the request.",
    example: "the API key could not be checked, because the key store is out of reach; try again",
  },
  unavailable: {
    description:
      "A required part is unavailable: the service is stopping, the database cannot be reached or written, too many large bodies are being read, or no browser is available. Retry after `Retry-After` seconds.",
    example: "the database is out of reach; try again",
  },
};
