import { publishReport, type ReportsDeps } from "#lib/reports/publish-report.ts";
import { reportInputSchema } from "#lib/reports/report.ts";
import { countOf } from "#lib/text/count-of.ts";
import { defineTool, errorResult, type Tool } from "../tool.ts";

/**
 * `publish_qa_report`: publishes findings as a report page for a team. Source: specification, Structured sessions;
 * `architecture.md`, Reports.
 */
export const publishQaReport = (deps: ReportsDeps): Tool =>
  defineTool({
    name: "publish_qa_report",
    description:
      "Publishes findings about pages (QA, accessibility, copy, forms) as a private page of the session, with JSON and Markdown. For tasks that ask for a test, an audit or a review. State what you observed, one finding each, with the evidence ids of pictures that show it. A report cannot be changed; publishing one with the same title makes its next version.",
    input: reportInputSchema,
    idempotent: true,
    readOnly: false,
    changes: true,
    async execute(report, { rootSessionId: sessionId, requestId, runId, callId }) {
      const published = await publishReport(deps, { sessionId, requestId, runId, callId, report });
      if (!published.ok) return errorResult(`publish_qa_report: ${published.problem}.`);
      const { id, title, version, url, counts } = published.report;
      const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
      const parts = Object.entries(counts).flatMap(([severity, count]) =>
        count > 0 ? [`${count} ${severity}`] : [],
      );
      const found = total === 0 ? "no findings" : `${countOf(total, "finding")}: ${parts.join(", ")}`;
      return [
        `Published report ${id}, version ${version} of ${JSON.stringify(title)}, with ${found}.`,
        `People with access to the session read it at ${url}.`,
      ].join("\n");
    },
  });
