import { z } from "zod";
import { ACCEPTED_BY, ASSERTION_RESULTS, CHECK_STATUSES } from "#db/schema/unions.ts";
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
  "several_matches",
  "wide_pattern",
  "not_applied",
  "no_effect",
  "not_visible",
  "not_examined",
  "lost_at_hydration",
  "lost_at_render",
  "fight",
  "lost_at_navigation",
  "stayed_after_leaving",
  "repeated",
  "revert_left_trace",
  "script_error",
  "console_error",
  "failed_request",
  "overflow",
  "covered",
  "accessibility",
  "duplicate_id",
  "layout_shift",
  "flicker",
  "slow_script",
  "slow_mutations",
  "leak",
  "dead_link",
  "dead_form",
  "dead_control",
  "trapped",
  "focus_lost",
  "csp_blocks_script",
  "requirement",
] as const;
export type FindingCode = (typeof FINDING_CODES)[number];

const outcome = z.enum(["ok", "failed", "not_applicable"]);

const findingSchema = z
  .object({
    level: z.enum(["fail", "warn"]),
    code: z.enum(FINDING_CODES),
    changeId: changeIdSchema
      .nullable()
      .describe("Id of the change that the finding is about. Null if it is not about a single change."),
    requirementId: z
      .string()
      .optional()
      .meta({
        description: "Id of the requirement whose assertion does not hold. Absent for other findings.",
        examples: ["r1"],
      }),
    url: z.string().meta({ examples: ["https://shop.example/checkout"] }),
    viewport: z.enum(["desktop", "tablet", "phone"]).nullable().meta({
      description: "Viewport that the finding is about. Null if it is not about a single viewport.",
    }),
    message: z.string().meta({
      description: "What was found and, where known, what to do about it.",
      examples: ['"#pay" matches no element on a fresh load of the page.'],
    }),
    picture: evidenceSchema.optional().meta({
      description:
        "Picture of the part of the page that the finding is about, with the variant. At most 12 findings of the level `fail` have one.",
    }),
  })
  .meta({ id: "CheckFinding", description: "A problem that a check found." });
export type Finding = z.infer<typeof findingSchema>;

const acceptedSchema = z
  .object({
    by: z.enum(ACCEPTED_BY).meta({
      description:
        "`caller`: a client with an API key. `person`: a visitor of the session page who may control the session.",
    }),
    at: timestamp,
    revision: z.int().meta({ description: "Number of the revision that was accepted.", examples: [3] }),
  })
  .meta({
    id: "AcceptedChange",
    description: "Who accepted that the check could not examine a change, and when.",
  });

const checkedChangeSchema = z
  .object({
    id: changeIdSchema,
    matched: z.int().meta({
      description:
        "Number of elements that the change's selector matched when the check loaded the page. For `remove`, their number without the variant.",
    }),
    outcome: z.enum(["proved", "failed", "not_examined"]).optional().meta({
      description:
        "What the check concludes about the change. `not_examined`: the change is in the document, and the check could not see its effect; the check passes only if this is accepted. Absent in reports of earlier versions of the service.",
    }),
    reason: z
      .string()
      .nullable()
      .optional()
      .meta({
        description: "Why the change was not examined. Null for the other outcomes.",
        examples: [null],
      }),
    accepted: acceptedSchema.optional(),
    applied: outcome,
    hydration: outcome.meta({
      description: "Whether the change stayed applied while the page's scripts started.",
    }),
    rerender: outcome.meta({
      description: "Whether the change was applied again after its element was rendered again.",
    }),
    navigation: outcome.meta({
      description: "Whether the change was applied again after the browser left the page and returned.",
    }),
    revert: outcome.meta({ description: "Whether reverting the change restored the page completely." }),
    isInShadow: z.boolean().optional().meta({
      description:
        "`true` if the change's selector matched an element in a shadow root, where other tools do not search. Otherwise absent.",
    }),
  })
  .meta({
    id: "CheckedChange",
    description:
      "What a check found about one change on one page. `not_applicable` means that the check could not test this, for example because the change was not applied.",
  });

const checkedPageSchema = z
  .object({
    url: z.string().meta({ description: "Page that was opened." }),
    viewport: z.enum(["desktop", "tablet", "phone"]),
    changes: z.array(checkedChangeSchema),
    paintToAppliedMs: z.number().nullable().meta({
      description:
        "Time from the first paint until the last change was applied, in milliseconds. 0 if all changes were applied before the first paint. Null if no change was applied or the page painted nothing.",
    }),
    layoutShift: z.number().meta({
      description:
        "How much the variant increases the page's layout shift score, compared with the page without the variant.",
    }),
    pictures: z
      .object({
        before: evidenceSchema.nullable(),
        after: evidenceSchema.nullable(),
        difference: evidenceSchema.nullable(),
      })
      .meta({
        description:
          "Pictures of the page without the variant (`before`), with the variant (`after`), and of the difference. Null for a picture that was not taken.",
      }),
  })
  .meta({ id: "CheckedPage", description: "What a check found on one page at one viewport width." });
export type CheckedPage = z.infer<typeof checkedPageSchema>;

const checkedRequirementSchema = z
  .object({
    id: z.string().meta({ examples: ["r1"] }),
    status: z.enum(ASSERTION_RESULTS),
    message: z
      .string()
      .nullable()
      .meta({
        description: "Why the assertion does not hold, or why it was not checked. Null if it holds.",
        examples: [null],
      }),
  })
  .meta({
    id: "CheckedRequirement",
    description: "What a check found about the assertion of a requirement.",
  });

/** Schema of the report on the check of a revision. Source: `architecture.md`, Variants. */
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
      description:
        "Results for the requirements that have an assertion and are not waived. Absent if there are none.",
    }),
    /** One sentence for each part that the check could not examine. */
    notes: z
      .array(z.string())
      .meta({ description: "One sentence for each part that the check could not examine." }),
  })
  .meta({ id: "CheckReport", description: "The report of a check of a revision." });
export type CheckedRequirementResult = z.infer<typeof checkedRequirementSchema>;
export type CheckReport = z.infer<typeof checkReportSchema>;
