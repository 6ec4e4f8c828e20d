import { z } from "zod";
import {
  ASSERTION_RESULTS,
  CHECK_STATUSES,
  EVIDENCE_KINDS,
  FINDING_SEVERITIES,
  PLAN_AUTHORS,
  PLAN_ITEM_STATUSES,
  PLAN_MODES,
  REQUIREMENT_STATUSES,
} from "#db/schema/unions.ts";
import { reportSummarySchema } from "#lib/events/outcome-schemas.ts";
import { PLAN_LIMITS } from "#lib/planning/plan.ts";
import {
  assertionInputSchema,
  evidenceIdsSchema,
  REQUIREMENT_LIMITS,
  requirementNoteSchema,
  requirementTextSchema,
} from "#lib/planning/requirement.ts";
import { REPORT_LIMITS } from "#lib/reports/report.ts";
import { id, line, list, time } from "./format-values.ts";

// Schemas for the plan, requirements, reports and landing pages in the JSON export of a session.

const text = (max: number) =>
  z.string().max(max, { error: `must be at most ${max.toLocaleString("en")} characters` });
const version = z.int().min(1);

export const exportedPlanSchema = z
  .strictObject({
    mode: z.enum(PLAN_MODES),
    author: z.enum(PLAN_AUTHORS).nullable(),
    items: list(
      z.strictObject({
        id: text(16),
        text: text(PLAN_LIMITS.textChars).refine((each) => each.trim() !== "", {
          error: "must not be empty",
        }),
        status: z.enum(PLAN_ITEM_STATUSES),
      }),
      PLAN_LIMITS.itemsMax,
    ),
  })
  .meta({ id: "ExportedPlan", description: "The plan of the session." });

const outcomeSchema = z.strictObject({
  status: z.enum(ASSERTION_RESULTS),
  at: time,
  variant: line,
  revision: version,
  message: z.string().nullable(),
});

export const exportedRequirementSchema = z
  .strictObject({
    id,
    text: requirementTextSchema,
    status: z.enum(REQUIREMENT_STATUSES),
    note: requirementNoteSchema.nullable(),
    author: z.enum(PLAN_AUTHORS),
    assertion: assertionInputSchema.nullable(),
    outcome: outcomeSchema.nullable(),
    evidenceIds: evidenceIdsSchema,
  })
  .meta({
    id: "ExportedRequirement",
    description: `A requirement. A session has at most ${REQUIREMENT_LIMITS.perSession}.`,
  });

const exportedFindingSchema = z.strictObject({
  severity: z.enum(FINDING_SEVERITIES),
  title: text(REPORT_LIMITS.titleCharacters),
  detail: text(REPORT_LIMITS.detailCharacters).meta({ description: "Details of the finding, as Markdown." }),
  url: text(REPORT_LIMITS.urlCharacters).nullable(),
  selector: text(REPORT_LIMITS.selectorCharacters).nullable(),
  steps: list(text(REPORT_LIMITS.stepCharacters), REPORT_LIMITS.steps),
  evidence: list(
    z.strictObject({
      id,
      kind: z.enum(EVIDENCE_KINDS),
      title: z.string(),
      url: z.string().nullable(),
      mediaType: line,
    }),
    REPORT_LIMITS.evidenceOfFinding,
  ),
});

export const exportedReportSchema = z
  .strictObject({
    id,
    title: text(REPORT_LIMITS.titleCharacters),
    version,
    createdAt: time,
    counts: reportSummarySchema.shape.counts,
    tested: list(
      z.strictObject({
        variant: line,
        revision: version,
        check: z.strictObject({ status: z.enum(CHECK_STATUSES), at: time }).nullable(),
      }),
    ),
    summary: text(REPORT_LIMITS.summaryCharacters).meta({
      description: "Summary of the report, as Markdown.",
    }),
    findings: list(exportedFindingSchema, REPORT_LIMITS.findings).meta({
      description: "Findings of the report, most severe first.",
    }),
  })
  .meta({ id: "ExportedReport", description: "The newest version of a report." });

export const exportedPageSchema = z
  .strictObject({
    slug: line,
    url: z.string(),
    version: version
      .nullable()
      .meta({ description: "Number of the version that is served. Null while the page is unpublished." }),
    note: z.string().nullable(),
  })
  .meta({ id: "ExportedPage", description: "A landing page, without its files." });
