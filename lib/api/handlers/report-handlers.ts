import { findReport, listReports as readReports } from "#lib/reports/report-store.ts";
import { writeMarkdown } from "#lib/reports/write-markdown.ts";
import { findRootOf } from "#lib/session/store/session-tree-store.ts";
import { attachment } from "../http/attachment.ts";
import { fail } from "../http/errors.ts";
import type { Answer, CallOf, Handlers } from "./handler.ts";
import type { ApiServices } from "./services.ts";

/** `GET …/reports`: lists all versions of the session's reports; for a sub-agent, those of its root session. */
async function listReports({ db }: ApiServices, { params }: CallOf<"listReports">): Promise<Answer> {
  const data = await readReports(db, await findRootOf(db, params.sessionId));
  return { ok: true, status: 200, body: { success: true, data, nextCursor: null } };
}

/**
 * `GET …/reports/:reportId?format=`: returns a report of the session; for a sub-agent, a report of its root session.
 */
async function readReport(
  { db, settings }: ApiServices,
  { params, query }: CallOf<"readReport">,
): Promise<Answer> {
  const report = await findReport(db, await findRootOf(db, params.sessionId), params.reportId);
  if (!report) return fail("not_found", "no such report");
  if (query.format === "markdown") {
    const headers = {
      "Content-Type": "text/markdown; charset=utf-8",
      "Content-Disposition": attachment(`${report.id}.md`),
      "X-Content-Type-Options": "nosniff",
      "Cache-Control": "private, no-store",
    };
    return new Response(writeMarkdown(report, settings.baseUrl), { headers });
  }
  const headers = { "Content-Disposition": attachment(`${report.id}.json`) };
  return { ok: true, status: 200, headers, body: { success: true, report } };
}

export const reportHandlers = {
  listReports,
  readReport,
} satisfies Partial<Handlers>;
