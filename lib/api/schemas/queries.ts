import { z } from "zod";

const wholeNumber = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, { error: "must be a whole number" })
    .transform(Number)
    .refine((value) => value >= least && value <= most, { error: `must be from ${least} to ${most}` });

/** `?after=<seq>` of a stream. Source: `wire.md`, Stream. */
export const streamQuerySchema = z.object({ after: wholeNumber(0, Number.MAX_SAFE_INTEGER).optional() });

/** `?limit=&cursor=` of a list. */
export const listQuerySchema = z.object({
  limit: wholeNumber(1, 100).optional(),
  cursor: z
    .string()
    .regex(/^[\w-]{1,500}$/, { error: "is not one that this list gave" })
    .optional(),
});

/** Largest value of the database's `integer`. */
const INTEGER_MAX = 2_147_483_647;

/** The transcript is listed oldest first, after a sequence number that serves as its cursor. */
export const messageListQuerySchema = z.object({
  limit: wholeNumber(1, 200).optional(),
  cursor: wholeNumber(0, INTEGER_MAX).optional(),
});
