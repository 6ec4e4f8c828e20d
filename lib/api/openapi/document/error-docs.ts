import type { ErrorCode } from "../../http/errors.ts";

/** What each refusal means, and a sentence as it comes. Source: specification, Errors; `wire.md`, Errors. */
export const ERROR_DOCS: Record<ErrorCode, { description: string; example: string }> = {
  invalid_request: {
    description: "The body, a parameter or a header is wrong; the sentence names it. Nothing was written.",
    example: "subAgents: must be a boolean",
  },
  unauthorized: {
    description: "No valid API key.",
    example: "send a valid API key as Authorization: Bearer <API_KEY> or X-Service-Api-Key: <API_KEY>",
  },
  forbidden: { description: "Known, but not allowed this.", example: "this share link may view, not drive" },
  not_found: {
    description: "There is no such thing, or it belongs to another key's owner.",
    example: "no such session",
  },
  method_not_allowed: {
    description: "The path is there, the method is not; `Allow` names those that are.",
    example: "method: must be POST",
  },
  conflict: {
    description: "Something else came first, or the session's queue is full.",
    example: "this message has started already",
  },
  payload_too_large: { description: "The body is too long.", example: "body: must be at most 8,192 KiB" },
  unsupported_media_type: {
    description: "The body's content type is not JSON.",
    example: "content-type: must be application/json",
  },
  idempotency_key_reused: {
    description: "The same `idempotencyKey` came with another body before.",
    example: "idempotencyKey: was used before with another body",
  },
  rate_limited: {
    description: "Too many calls; `Retry-After` says when the next one may come.",
    example: "too many requests; try again in 3 s",
  },
  internal: {
    description: "Our fault. The log has the details.",
    example: "something went wrong on our side; the service's log has the reason",
  },
  auth_unavailable: {
    description: "The key could not be checked; it may well be good. Try again.",
    example: "the API key could not be checked, because the key store is out of reach; try again",
  },
  unavailable: {
    description:
      "A part that the call needs is away: the database cannot be reached or written, too many large bodies are being read, or no browser can be had. The same call may succeed after `Retry-After` seconds.",
    example: "the database is out of reach; try again",
  },
};
