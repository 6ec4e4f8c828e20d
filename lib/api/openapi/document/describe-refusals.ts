import type { Operation } from "../../contract/operation.ts";
import { ERROR_STATUS, type ErrorCode } from "../../http/errors.ts";
import { type JsonSchema, refTo } from "../json-schema.ts";
import type { ResponseObject } from "../types.ts";
import { ERROR_DOCS } from "./error-docs.ts";
import { RATE_HEADERS, referToHeaders, type SharedHeader } from "./headers.ts";

/** The one envelope. Source: `wire.md`, Errors. */
export const errorSchema: JsonSchema = {
  type: "object",
  description: "A refusal.",
  properties: {
    success: { const: false },
    error: {
      type: "string",
      description: "A sentence; it begins with the path of the field that it is about, where there is one.",
      examples: ["subAgents: must be a boolean"],
    },
    code: { type: "string", enum: Object.keys(ERROR_STATUS) },
  },
  required: ["success", "error", "code"],
};

/** The sentence alone, where the specification prints a refusal so. */
export const bareErrorSchema: JsonSchema = {
  type: "object",
  description: "A refusal without the envelope: the sentence alone.",
  properties: { error: { type: "string", examples: ["url is required"] } },
  required: ["error"],
  additionalProperties: false,
};

/** The refusals that an operation may answer with: those that follow from its parts, then its own. */
export function listRefusals(operation: Operation): ErrorCode[] {
  const { auth, body, query, headers, rate, requiresJsonType, path, errors = [] } = operation;
  const takesKey = auth.kind === "key" || (auth.kind === "share" && auth.orKey);
  const codes: (ErrorCode | false | undefined)[] = [
    (body ?? query ?? headers) && "invalid_request",
    (takesKey || auth.kind === "login") && "unauthorized",
    (takesKey || auth.kind === "share" || auth.kind === "login") && "forbidden",
    path.includes(":") && "not_found",
    body && "payload_too_large",
    body && requiresJsonType && "unsupported_media_type",
    rate && "rate_limited",
    ...errors,
    "internal",
    takesKey && "auth_unavailable",
    "unavailable",
  ];
  return [...new Set(codes.filter((code) => code !== false && code !== undefined))];
}

const HEADERS_OF: Partial<Record<ErrorCode, readonly SharedHeader[]>> = {
  method_not_allowed: ["Allow"],
  rate_limited: [...RATE_HEADERS, "Retry-After"],
  unavailable: ["Retry-After"],
};

/** A refusal with its code, in the envelope. */
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

/** A refusal of an operation at whose status the specification prints the sentence alone. */
export const describeBareRefusal = (code: ErrorCode, sentence: string): ResponseObject => ({
  description: ERROR_DOCS[code].description,
  ...(HEADERS_OF[code] && { headers: referToHeaders(HEADERS_OF[code]) }),
  content: { "application/json": { schema: refTo("BareError"), example: { error: sentence } } },
});

/** Names of the refusals among the document's responses: `rate_limited` as `RateLimited`. */
export const nameRefusal = (code: ErrorCode): string =>
  code.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
