import { z } from "zod";
import { CHECK_STATUSES, FINDING_SEVERITIES } from "#db/schema/unions.ts";
import { evidenceSchema } from "#lib/events/event-schemas.ts";
import { reportSummarySchema } from "#lib/events/outcome-schemas.ts";
import { pageUrl, reportId, sessionId, timestamp } from "#lib/events/wire-values.ts";
import { defineOperation, type Operation, READER_AUTH } from "../operation.ts";
import { listOf } from "../schemas/answers.ts";

/** Query of a report. Source: `wire.md`, Reports. */
const reportQuerySchema = z.object({
  format: z
    .enum(["json", "markdown"])
    .default("json")
    .meta({ description: "`markdown`: one Markdown file with links to the evidence." }),
});

const findingSchema = z
  .object({
    severity: z.enum(FINDING_SEVERITIES).meta({
      description:
        "Severity of the finding: one of axe-core's impact levels, or `info` for a finding that needs no repair.",
      examples: ["serious"],
    }),
    title: z.string().meta({ examples: ["The Pay button has no name"] }),
    detail: z.string().meta({
      description: "Details of the finding, as Markdown.",
      examples: ["Screen readers announce “button”."],
    }),
    url: pageUrl("Page that the finding is about. Null if the report does not name one.").nullable(),
    selector: z
      .string()
      .nullable()
      .meta({ examples: ["#pay"] }),
    steps: z.array(z.string()).meta({
      description: "How to reproduce the finding.",
      examples: [["Open the checkout.", "Tab to the button."]],
    }),
    evidence: z
      .array(evidenceSchema)
      .meta({ description: "Evidence of the finding. Download each piece as an artifact of the session." }),
  })
  .meta({ id: "ReportFinding" });

const testedVariantSchema = z
  .object({
    variant: z.string().meta({ description: "Key of the variant.", examples: ["main"] }),
    revision: z
      .int()
      .min(1)
      .meta({
        description: "Number of the variant's newest revision when the report was published.",
        examples: [3],
      }),
    check: z
      .object({ status: z.enum(CHECK_STATUSES), at: timestamp })
      .nullable()
      .meta({ description: "Newest check of that revision. Null if it was not checked." }),
  })
  .meta({ id: "TestedVariant", description: "A variant of the session when a report was published." });

const reportSchema = z
  .object({
    ...reportSummarySchema.shape,
    sessionId,
    newest: z
      .object({
        id: reportId,
        version: z
          .int()
          .min(1)
          .meta({ examples: [1] }),
        url: z.string().meta({ description: "Path of the page of the newest version." }),
      })
      .meta({
        description:
          "The newest version of the report. If this report is the newest version, `newest.id` equals its `id`.",
      }),
    tested: z.array(testedVariantSchema).meta({
      description: "The session's variants when the report was published.",
    }),
    summary: z.string().meta({
      description: "Summary of the report, as Markdown.",
      examples: ["The checkout works with a keyboard."],
    }),
    findings: z.array(findingSchema).meta({ description: "Sorted by severity, most severe first." }),
  })
  .meta({ id: "Report", description: "A QA report." });

const readReportSchema = z
  .object({ success: z.literal(true), report: reportSchema })
  .meta({ id: "ReportRead" });

/** Operations on the QA reports of a session. Source: `wire.md`, Reports. */
export const reportOperations = {
  listReports: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/reports",
    summary: "List QA reports, newest first",
    description: "Lists all versions of the reports. For a sub-agent, lists the reports of its root session.",
    auth: READER_AUTH,
    rate: "poll",
    answers: { 200: listOf(reportSummarySchema) },
  }),
  readReport: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/reports/:reportId",
    summary: "Read a QA report",
    description:
      "A report never changes. `summary` and `detail` are Markdown that the agent wrote: treat both as untrusted. With `format=markdown`, the response is a Markdown file that contains both as block quotations, without raw HTML or pictures.",
    auth: READER_AUTH,
    rate: "poll",
    query: reportQuerySchema,
    answers: { 200: readReportSchema },
    media: { 200: ["text/markdown"] },
    answerHeaders: { 200: ["Content-Disposition"] },
  }),
} as const satisfies Record<string, Operation>;
