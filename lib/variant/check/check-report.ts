import { z } from "zod";
import { ASSERTION_RESULTS, CHECK_STATUSES } from "#db/schema/unions.ts";
import { evidenceSchema } from "#lib/events/event-schemas.ts";
import { timestamp } from "#lib/events/wire-values.ts";
import { changeIdSchema, variantKeySchema } from "../document.ts";

/** Viewport sizes in which variants are checked and previewed, in CSS pixels. */
export const VIEWPORTS = {
  desktop: { width: 1280, height: 800 },
  tablet: { width: 820, height: 1180 },
  phone: { width: 390, height: 844 },
} as const;
export type ViewportName = keyof typeof VIEWPORTS;

const FINDING_CODES = [
  "nothing_to_check",
  "page_failed",
  "no_match",
  "not_applied",
  "lost_at_hydration",
  "lost_at_render",
  "fight",
  "lost_at_navigation",
  "stayed_after_leaving",
  "revert_left_trace",
  "script_error",
  "console_error",
  "failed_request",
  "overflow",
  "covered",
  "accessibility",
  "layout_shift",
  "csp_blocks_script",
  "requirement",
] as const;
export type FindingCode = (typeof FINDING_CODES)[number];

const outcome = z.enum(["ok", "failed", "not_applicable"]);

const findingSchema = z
  .object({
    level: z.enum(["fail", "warn"]),
    code: z.enum(FINDING_CODES),
    changeId: changeIdSchema.nullable(),
    requirementId: z
      .string()
      .optional()
      .meta({ description: "Id of the requirement that is not met.", examples: ["r1"] }),
    url: z.string().meta({ examples: ["https://shop.example/checkout"] }),
    viewport: z.enum(["desktop", "tablet", "phone"]).nullable(),
    message: z.string().meta({
      description: "What was found, and what to do.",
      examples: ['"#pay" matches no element on a fresh load of the page.'],
    }),
  })
  .meta({ id: "CheckFinding", description: "Something that a check found." });
export type Finding = z.infer<typeof findingSchema>;

const checkedChangeSchema = z
  .object({
    id: changeIdSchema,
    matched: z.int().meta({ description: "Elements that matched on the fresh load." }),
    applied: outcome,
    hydration: outcome.meta({ description: "Whether the change survived the start of the page's scripts." }),
    rerender: outcome.meta({ description: "Whether it came back after its element was rendered again." }),
    navigation: outcome.meta({ description: "Whether it came back after leaving the page and returning." }),
    revert: outcome.meta({ description: "Whether it was reverted without a trace." }),
  })
  .meta({ id: "CheckedChange", description: "The proof of one change on one page." });

const checkedPageSchema = z
  .object({
    url: z.string().meta({ description: "Page that was opened." }),
    viewport: z.enum(["desktop", "tablet", "phone"]),
    changes: z.array(checkedChangeSchema),
    paintToAppliedMs: z.number().nullable().meta({
      description: "Milliseconds from the first paint until the last change was applied. 0 if before.",
    }),
    layoutShift: z.number().meta({ description: "Layout shift that the variant adds." }),
    pictures: z
      .object({
        before: evidenceSchema.nullable(),
        after: evidenceSchema.nullable(),
        difference: evidenceSchema.nullable(),
      })
      .meta({ description: "Pictures without the variant, with it, and of the difference." }),
  })
  .meta({ id: "CheckedPage", description: "The proof on one page at one width." });
export type CheckedPage = z.infer<typeof checkedPageSchema>;

const checkedRequirementSchema = z
  .object({
    id: z.string().meta({ examples: ["r1"] }),
    status: z.enum(ASSERTION_RESULTS),
    message: z
      .string()
      .nullable()
      .meta({ description: "Why it does not hold, or was not checked.", examples: [null] }),
  })
  .meta({
    id: "CheckedRequirement",
    description: "What a check found about the assertion of a requirement.",
  });

/** The report on the check of a revision. Source: `architecture.md`, Variants. */
export const checkReportSchema = z
  .object({
    variant: variantKeySchema,
    revision: z.int(),
    status: z.enum(CHECK_STATUSES),
    at: timestamp,
    durationMs: z.number(),
    findings: z.array(findingSchema),
    pages: z.array(checkedPageSchema),
    requirements: z.array(checkedRequirementSchema).optional().meta({
      description: "The requirements with an assertion that were not waived. Absent if there were none.",
    }),
    /** One sentence for each part that the check could not examine. */
    notes: z.array(z.string()).meta({ description: "What the check could not examine." }),
  })
  .meta({ id: "CheckReport", description: "The proof of a revision." });
export type CheckedRequirementResult = z.infer<typeof checkedRequirementSchema>;
export type CheckReport = z.infer<typeof checkReportSchema>;
