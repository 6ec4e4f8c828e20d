import type { AnswerHeader } from "../../contract/operation.ts";
import type { JsonSchema } from "../json-schema.ts";

/** The description of a response header in the document. */
export type HeaderObject = { description: string; schema: JsonSchema; example?: unknown };

/** Headers that the document adds because of rate limits and errors. Operations declare all other headers themselves. */
export type SharedHeader =
  | "RateLimit-Limit"
  | "RateLimit-Remaining"
  | "RateLimit-Reset"
  | "Retry-After"
  | "Allow";

const text = (description: string, example: string): HeaderObject => ({
  description,
  schema: { type: "string" },
  example,
});
const whole = (description: string, example: number): HeaderObject => ({
  description,
  schema: { type: "integer", minimum: 0 },
  example,
});

/** Descriptions of the response headers. */
export const HEADERS: Record<AnswerHeader | SharedHeader, HeaderObject> = {
  Allow: text("Methods that the path supports.", "POST, OPTIONS"),
  "Cache-Control": text("Whether and how long the response may be cached.", "private, no-cache"),
  "Content-Disposition": text(
    "Whether a browser shows the file (`inline`) or downloads it (`attachment`).",
    "inline",
  ),
  ETag: text(
    "Version of the response. Send it as `If-None-Match` with the next request, to get a 304 if the response has not changed.",
    '"3f6c…"',
  ),
  "Accept-Ranges": text("`bytes`: `Range` requests a part of the file.", "bytes"),
  "Content-Range": text(
    "The part of the file that the response has, and the file's size.",
    "bytes 0-99/2048",
  ),
  "Last-Modified": text("When the file was last changed.", "Fri, 20 Nov 2026 12:31:59 GMT"),
  "Idempotency-Replayed": text(
    "`true` if this is the response of an earlier request with the same `idempotencyKey`.",
    "true",
  ),
  Location: text(
    "Path to poll for the request's status: the `statusUrl`.",
    "/api/sessions/ses_xdbqydi2z2jnnberubbghcrn/requests/req_x3vhrt5vrmaw4gijc66izaly",
  ),
  "RateLimit-Limit": whole("Requests allowed per minute. Absent if there is no limit.", 60),
  "RateLimit-Remaining": whole("Requests that are allowed at this moment.", 59),
  "RateLimit-Reset": whole("Seconds until the full limit is available again.", 1),
  "Retry-After": whole("Seconds to wait before retrying.", 3),
};

/** Returns references to the components of the named headers. */
export const referToHeaders = (
  names: readonly (AnswerHeader | SharedHeader)[],
): Record<string, { $ref: string }> =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** Headers of operations with a rate limit. */
export const RATE_HEADERS = ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"] as const;
