import type { AnswerHeader } from "../../contract/operation.ts";
import type { JsonSchema } from "../json-schema.ts";

/** A header of an answer, as the document has it. */
export type HeaderObject = { description: string; schema: JsonSchema; example?: unknown };

/** Headers that follow from limits and refusals, besides those that operations name themselves. */
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

/** What the headers of answers mean. */
export const HEADERS: Record<AnswerHeader | SharedHeader, HeaderObject> = {
  Allow: text("The methods that the path has.", "POST, OPTIONS"),
  "Cache-Control": text("How long it may be kept.", "private, max-age=31536000, immutable"),
  "Content-Disposition": text("Whether a browser shows or keeps it.", "inline"),
  ETag: text("Names this very answer; send it as `If-None-Match`.", '"3f6c…"'),
  "Idempotency-Replayed": text("`true` where an earlier call is answered again.", "true"),
  Location: text(
    "Where the request is polled: the `statusUrl`.",
    "/api/sessions/ses_xdbqydi2z2jnnberubbghcrn/requests/req_x3vhrt5vrmaw4gijc66izaly",
  ),
  "RateLimit-Limit": whole("Calls a minute; absent where there is no limit.", 60),
  "RateLimit-Remaining": whole("Calls that are left now.", 59),
  "RateLimit-Reset": whole("Seconds until all are there again.", 1),
  "Retry-After": whole("Seconds to wait before the next try.", 3),
};

/** The headers of an answer by name, as references to the document's components. */
export const referToHeaders = (
  names: readonly (AnswerHeader | SharedHeader)[],
): Record<string, { $ref: string }> =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** What a limited operation says of the limit. */
export const RATE_HEADERS = ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"] as const;
