import { z } from "zod";

// Schemas and limits for both `format.ts` and `format-work.ts`.

/** Limits of a document that can be imported. */
export const DOCUMENT_LIMITS = {
  bytesMax: 10 * 1024 * 1024,
  messagesMax: 20_000,
  listMax: 10_000,
} as const;

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/**
 * Accepts only the form in which the service writes times, and only times since 1970. An import and a later export
 * therefore do not alter a time.
 */
export const time = z
  .string()
  .refine((text) => ISO.test(text) && new Date(text).getTime() >= 0, {
    error: "must be a time such as 2026-11-20T12:31:59.889Z",
  })
  .meta({ description: "Time in ISO 8601 format, UTC.", examples: ["2026-11-20T12:31:59.889Z"] });
export const line = z.string().max(2_000, { error: "must be at most 2,000 characters" });
export const id = line.min(1, { error: "must not be empty" });
export const list = <Item extends z.ZodType>(item: Item, max: number = DOCUMENT_LIMITS.listMax) =>
  z.array(item).max(max, { error: `must hold at most ${max.toLocaleString("en")} entries` });
