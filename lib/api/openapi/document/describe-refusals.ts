import { INBOX_STATES } from "#db/schema/unions.ts";
import { ERROR_STATUS, type ErrorCode } from "../../contract/error-codes.ts";
import type { Operation } from "../../contract/operation.ts";
import { type JsonSchema, refTo } from "../json-schema.ts";
import type { ResponseObject } from "../types.ts";
import { ERROR_DOCS } from "./error-docs.ts";
import { RATE_HEADERS, referToHeaders, type SharedHeader } from "./headers.ts";

/** The error envelope. Source: `wire.md`, Errors. */
export const errorSchema: JsonSchema = {
  type: "object",
  description: "An error.",
  properties: {
    success: { const: false },
    error: {
      type: "string",
      description: "Error message. It starts with the path of the invalid field, if there is one.",
      examples: ["subAgents: must be a boolean"],
    },
    code: { type: "string", enum: Object.keys(ERROR_STATUS) },
    state: {
      type: "string",
      enum: INBOX_STATES.filter((state) => state !== "open"),
      description: "Only if an item of the inbox is settled already: its state.",
    },
  },
  required: ["success", "error", "code"],
};

/** An error without the envelope. Some operations return such errors, as the specification defines. */
export const bareErrorSchema: JsonSchema = {
  type: "object",
  description: "An error without the envelope: only the message.",
  properties: { error: { type: "string", examples: ["url is required"] } },
  required: ["error"],
  additionalProperties: false,
};

/**
 * Lists the errors that an operation can return: the errors that follow from its method, credentials, body, parameters
 * and rate limit, the errors that it declares itself, and the errors that every operation can return.
 */
export function listRefusals(operation: Operation): ErrorCode[] {
  const { auth, body, query, headers, rate, requiresJsonType, path, method, errors = [] } = operation;
  const hasBody = body !== undefined || operation.takesBytes;
  const takesKey = auth.kind === "key" || (auth.kind === "share" && auth.orKey);
  const takesLogin = auth.kind === "login" || auth.kind === "person";
  const codes: (ErrorCode | false | undefined)[] = [
    (body ?? query ?? headers) && "invalid_request",
    (takesKey || takesLogin) && "unauthorized",
    (takesKey || auth.kind === "share" || takesLogin) && "forbidden",
    path.includes(":") && "not_found",
    hasBody && "request_timeout",
    hasBody && "payload_too_large",
    body && requiresJsonType && "unsupported_media_type",
    // Failed authentications with an API key or a share link are limited for every operation. Beyond the limit, they
    // are answered with 429.
    (rate || takesKey || auth.kind === "share") && "rate_limited",
    ...errors,
    // A sub-agent refuses changes with 409, because only its parent may control it.
    path.includes(":sessionId") && method !== "GET" && "conflict",
    "internal",
    takesKey && "auth_unavailable",
    "unavailable",
  ];
  return [...new Set(codes.filter((code) => code !== false && code !== undefined))];
}

const HEADERS_OF: Partial<Record<ErrorCode, readonly (SharedHeader | "Content-Range")[]>> = {
  method_not_allowed: ["Allow"],
  range_not_satisfiable: ["Content-Range"],
  rate_limited: [...RATE_HEADERS, "Retry-After"],
  unavailable: ["Retry-After"],
};

/** Describes an error that is sent in the envelope, with its code. */
export function describeRefusal(code: ErrorCode): ResponseObject {
  const { description, example } = ERROR_DOCS[code];
  const headers = HEADERS_OF[code];
  return {
    description: `\`${code}\`: ${description}`,
    ...(headers && { headers: referToHeaders(headers) }),
    content: {
      "application/json": {
        schema: {
          allOf: [
            refTo("Error"),
            { type: "object", properties: { code: { const: code } }, required: ["code"] },
          ],
        },
        example: { success: false, error: example, code },
      },
    },
  };
}

/** Describes an error whose body contains only the message. */
export const describeBareRefusal = (code: ErrorCode, sentence: string): ResponseObject => ({
  description: ERROR_DOCS[code].description,
  ...(HEADERS_OF[code] && { headers: referToHeaders(HEADERS_OF[code]) }),
  content: { "application/json": { schema: refTo("BareError"), example: { error: sentence } } },
});

/** Returns the name of an error's response component: `rate_limited` becomes `RateLimited`. */
export const nameRefusal = (code: ErrorCode): string =>
  code.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
