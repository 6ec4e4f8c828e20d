import { str } from "ajv";
import type AjvCore from "ajv/dist/core.js";
import addFormats, { type FormatName } from "ajv-formats";
import { fullFormats } from "ajv-formats/dist/formats.js";
import { isMultipleOf } from "#lib/text/decimal.ts";
import type { Draft } from "./find-draft.ts";

/**
 * The formats that are checked in addition to `date-time`. The last two are not formats of JSON Schema, but other
 * validators check them too. All other formats are ignored.
 */
const ASSERTED_FORMATS: FormatName[] = [
  "date",
  "time",
  "duration",
  "email",
  "hostname",
  "ipv4",
  "ipv6",
  "uri",
  "uri-reference",
  "uri-template",
  "uuid",
  "regex",
  "json-pointer",
  "relative-json-pointer",
  "url",
  "json-pointer-uri-fragment",
];

/** Configures a new ajv instance so that its keywords and formats behave as the draft says. */
export function configureAjv(ajv: AjvCore, draft: Draft): AjvCore {
  ajv.removeKeyword(draft.foreignId);
  for (const keyword of draft.ignoredKeywords) ajv.removeKeyword(keyword);
  addFormats(ajv, ASSERTED_FORMATS);
  ajv.addFormat("date-time", isDateTime);
  ajv.removeKeyword("multipleOf");
  ajv.addKeyword({
    keyword: "multipleOf",
    type: "number",
    schemaType: "number",
    compile: (divisor: number) => (value: number) => isMultipleOf(value, divisor),
    error: { message: ({ schemaCode }) => str`must be multiple of ${schemaCode}` },
  });
  return ajv;
}

// The package's type allows every kind of format definition. The cast is safe, because this one has a `validate`
// function.
const { validate: isLooseDateTime } = fullFormats["date-time"] as { validate: (text: string) => boolean };

/**
 * Whether a text is a date and time by RFC 3339, section 5.6. The `date-time` format of ajv-formats is less strict: it
 * also accepts white space instead of the `T`.
 */
const isDateTime = (text: string): boolean => !/\s/.test(text) && isLooseDateTime(text);
