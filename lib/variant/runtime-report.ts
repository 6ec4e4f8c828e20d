import { z } from "zod";
import type { RuntimeReport } from "#lib/injected/runtime/runtime-types.ts";
import { shorten } from "#lib/text/shorten.ts";
import { VARIANT_LIMITS } from "./document.ts";

const TEXT_CHARS_MAX = 2_000;
const text = z.string().transform((value) => shorten(value, TEXT_CHARS_MAX));
const count = z.number().int().nonnegative();
const reportSchema = z.object({
  url: text,
  pages: count.max(VARIANT_LIMITS.pagesMax),
  isHydrating: z.boolean(),
  scriptError: text.nullable(),
  changes: z
    .array(
      z.object({
        id: text,
        state: z.enum(["waiting", "applied", "fight", "error"]),
        matches: count,
        applied: count,
        reapplied: count,
        appliedAtMs: z.number().nonnegative().nullable(),
        error: text.nullable(),
      }),
    )
    .max(VARIANT_LIMITS.changesMax),
});

/** The expression that reads the runtime's report on a variant in the page's main JavaScript context. */
export const reportExpression = (variant: string): string =>
  `window.__agentSessionVariants?.[${JSON.stringify(variant)}]?.report()`;

/** Validates a report from a page, which could forge it, and cuts its texts. Undefined if it is not a valid report. */
export const parseReport = (value: unknown): RuntimeReport | undefined => reportSchema.safeParse(value).data;
