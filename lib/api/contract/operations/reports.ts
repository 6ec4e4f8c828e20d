import { reportSummarySchema } from "#lib/events/event-schemas.ts";
import { defineOperation, type Operation, READER_AUTH } from "../operation.ts";
import { listOf } from "../schemas/answers.ts";
import { readReportSchema, reportQuerySchema } from "../schemas/reports.ts";

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
