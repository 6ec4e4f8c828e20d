import { z } from "zod";
import { SESSION_STATES } from "#db/schema/unions.ts";

/** Schema of a whole number in a query. */
export const wholeNumber = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, { error: "must be a whole number" })
    .transform(Number)
    .refine((value) => value >= least && value <= most, { error: `must be from ${least} to ${most}` })
    .meta({ shownAs: { type: "integer", minimum: least, maximum: most } });

/** Query of a stream: `?after=<seq>` skips the events up to this sequence number. Source: `wire.md`, Stream. */
export const streamQuerySchema = z.object({
  after: wholeNumber(0, Number.MAX_SAFE_INTEGER)
    .optional()
    .meta({
      description: "Returns only events with a higher `seq`. `Last-Event-ID` takes precedence.",
      examples: [12],
    }),
});

/** Query of the live socket. Source: `wire.md`, WebSocket. */
export const liveQuerySchema = streamQuerySchema.extend({
  auth: z.literal("frame", { error: 'must be "frame"' }).optional().meta({
    description:
      "`frame`: the service ignores the credentials of the request; the client sends its token in the first frame.",
  }),
});

/**
 * The header `Last-Event-ID`, which an `EventSource` sends when it reconnects. The handler reads the header itself.
 * Source: `wire.md`, Stream.
 */
export const streamHeadersSchema = z.object({
  "Last-Event-ID": wholeNumber(0, 999_999_999_999_999)
    .optional()
    .meta({ description: "`id` of the last event received. The stream resumes after it.", examples: [12] }),
});

/** Query of a list: `?limit=&cursor=`. */
export const listQuerySchema = z.object({
  limit: wholeNumber(1, 100)
    .optional()
    .meta({ default: 50, description: "Maximum number of items per page." }),
  cursor: z
    .string()
    .regex(/^[\w-]{1,500}$/, { error: "is not one that this list gave" })
    .optional()
    .meta({ description: "The `nextCursor` of the previous page." }),
});

const states = z.array(z.enum(SESSION_STATES));

/** Query of the list of sessions: `?limit=&cursor=&q=&state=`. Source: `wire.md`, Also served. */
export const sessionListQuerySchema = listQuerySchema.extend({
  q: z
    .string()
    .trim()
    .min(1, { error: "must not be empty" })
    .max(200, { error: "must be at most 200 characters" })
    .optional()
    .meta({
      description:
        "Lists only sessions whose title, task and target URL together contain each of these words, in any case. A word may also be a part of a longer one.",
      examples: ["checkout"],
    }),
  state: z
    .string()
    .max(200, { error: "must be at most 200 characters" })
    .transform((text, context) => {
      const read = states.safeParse(text.split(","));
      if (read.success) return read.data;
      context.addIssue({ code: "custom", message: `must be one or more of ${SESSION_STATES.join(", ")}` });
      return z.NEVER;
    })
    .optional()
    .meta({
      shownAs: { type: "string" },
      description: "Lists only sessions in one of these states. Separate several states by commas.",
      examples: ["waiting,failed"],
    }),
});

/** Largest value of a Postgres `integer`. */
const INTEGER_MAX = 2_147_483_647;

/** Query of the transcript. Messages are listed oldest first, and the cursor is the sequence number of a message. */
export const messageListQuerySchema = z.object({
  limit: wholeNumber(1, 200)
    .optional()
    .meta({ default: 50, description: "Maximum number of messages per page." }),
  cursor: wholeNumber(0, INTEGER_MAX)
    .optional()
    .meta({ description: "The `nextCursor` of the previous page: returns messages with a higher `seq`." }),
});
