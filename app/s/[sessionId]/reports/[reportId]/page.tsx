import type { Metadata } from "next";
import { headers } from "next/headers";
import { notFound } from "next/navigation";
import { cache } from "react";
import { ReportView } from "#components/reports/report-view.tsx";
import { loadReportPage } from "#lib/api/next/mount.ts";

type Props = { params: Promise<{ sessionId: string; reportId: string }> };

/** Loads the data of the page. Cached per request, because the title and the page both need the data. */
const load = cache(async (sessionId: string, reportId: string) =>
  loadReportPage(sessionId, reportId, (await headers()).get("cookie")),
);

/** Shows the report's title as the title of the browser's tab. */
export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { sessionId, reportId } = await params;
  const page = await load(sessionId, reportId);
  return { title: page?.report.title ?? "Not found" };
}

/** Shows a QA report of a session. Every visitor who can open the session's page can open the report. */
export default async function ReportRoute({ params }: Props) {
  const { sessionId, reportId } = await params;
  const page = await load(sessionId, reportId);
  if (!page) notFound();
  return <ReportView page={page} />;
}
