import type { ReportPage } from "#lib/page/state/view-types.ts";
import { findReport } from "#lib/reports/report-store.ts";
import { writeMarkdown } from "#lib/reports/write-markdown.ts";
import { findSession } from "#lib/session/store/session-store.ts";
import { readVisit } from "../auth/exchange-link.ts";
import type { ApiServices } from "../handlers/services.ts";

/**
 * Loads the data of a report's page. Undefined for a visitor without access to the session, and for an unknown report.
 */
export async function loadReportPage(
  services: ApiServices,
  sessionId: string,
  reportId: string,
  cookieHeader: string | null,
): Promise<ReportPage | undefined> {
  const access = await readVisit(services, sessionId, cookieHeader, false);
  const session = access && (await findSession(services.db, sessionId));
  const report = session && (await findReport(services.db, sessionId, reportId));
  if (!report) return undefined;
  const data = `/api/sessions/${sessionId}`;
  return {
    report,
    markdown: writeMarkdown(report, services.settings.baseUrl),
    session: { title: session.title, path: `/s/${sessionId}` },
    paths: { report: `${data}/reports/${reportId}`, artifacts: `${data}/artifacts` },
  };
}
