import { z } from "zod";

const wholeNumber = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, { error: "must be a whole number" })
    .transform(Number)
    .refine((value) => value >= least && value <= most, { error: `must be from ${least} to ${most}` })
    .meta({ shownAs: { type: "integer", minimum: least, maximum: most } });

/** `?after=<seq>` of a stream. Source: `wire.md`, Stream. */
export const streamQuerySchema = z.object({
  after: wholeNumber(0, Number.MAX_SAFE_INTEGER)
    .optional()
    .meta({ description: "Only events with a higher number; `Last-Event-ID` wins over it.", examples: [12] }),
});

/** What an `EventSource` sends when it comes back; the handler reads it. Source: `wire.md`, Stream. */
export const streamHeadersSchema = z.object({
  "Last-Event-ID": wholeNumber(0, 999_999_999_999_999)
    .optional()
    .meta({ description: "The last event that was seen: the stream goes on after it.", examples: [12] }),
});

/** `?limit=&cursor=` of a list. */
export const listQuerySchema = z.object({
  limit: wholeNumber(1, 100).optional().meta({ default: 50, description: "Items on a page." }),
  cursor: z
    .string()
    .regex(/^[\w-]{1,500}$/, { error: "is not one that this list gave" })
    .optional()
    .meta({ description: "The `nextCursor` of the page before." }),
});

/** Largest value of the database's `integer`. */
const INTEGER_MAX = 2_147_483_647;

/** The transcript is listed oldest first, after a sequence number that serves as its cursor. */
export const messageListQuerySchema = z.object({
  limit: wholeNumber(1, 200).optional().meta({ default: 50, description: "Messages on a page." }),
  cursor: wholeNumber(0, INTEGER_MAX)
    .optional()
    .meta({ description: "The `nextCursor` of the page before: messages after the one numbered so." }),
});
