import { z } from "zod";
import { httpUrlUpTo } from "#lib/text/http-url.ts";

/** Schema of a string of at most `max` Unicode characters. A surrogate pair counts as one character. */
export const textUpTo = (max: number) =>
  z
    .string()
    .refine((text) => text.length <= max || (text.length <= 2 * max && [...text].length <= max), {
      error: `must be at most ${max.toLocaleString("en")} characters`,
    })
    .meta({ maxLength: max });

/** Schema of a name of 1 to `max` UTF-16 code units. Unlike in {@link textUpTo}, a surrogate pair counts as two. */
export const nameUpTo = (max: number) =>
  z
    .string()
    .min(1, { error: "must not be empty" })
    .max(max, { error: `must be at most ${max.toLocaleString("en")} characters` });

/** Schema of an absolute http(s) URL, which is stored exactly as sent. */
export const httpUrl = httpUrlUpTo(8_192).meta({
  format: "uri",
  examples: ["https://shop.example/checkout"],
});

/** Schema of a JSON object (not an array, not null). */
export const jsonObject = z
  .custom<Record<string, unknown>>(
    (value) => typeof value === "object" && value !== null && !Array.isArray(value),
    { error: "must be an object" },
  )
  .meta({ shownAs: { type: "object", additionalProperties: true } });
