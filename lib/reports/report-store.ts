import { and, count, desc, eq, sql } from "drizzle-orm";
import type { Executor, Transaction } from "#db/client.ts";
import { reports, sessions } from "#db/schema/index.ts";
import { storable } from "#db/storable.ts";
import type { ReportSummary } from "#lib/events/event.ts";
import { type Report, type ReportDocument, reportUrl, type TestedVariant } from "./report.ts";

const summaryColumns = {
  id: reports.id,
  sessionId: reports.sessionId,
  title: reports.title,
  version: reports.version,
  counts: reports.counts,
  createdAt: reports.createdAt,
};

type SummaryRow = Pick<typeof reports.$inferSelect, keyof typeof summaryColumns>;

/** The cast is safe because the service itself computed the counts when it stored the report. */
const toSummary = ({ sessionId, counts, createdAt, ...row }: SummaryRow): ReportSummary => ({
  id: row.id,
  title: row.title,
  version: row.version,
  url: reportUrl(sessionId, row.id),
  counts: counts as ReportSummary["counts"],
  createdAt: createdAt.toISOString(),
});

const isNewest = sql`not exists (select 1 from ${reports} newer where newer.session_id = ${reports.sessionId}
  and newer.title = ${reports.title} and newer.version > ${reports.version})`;

/** Lists the reports of a session, newest first. With `onlyNewest`, lists only the newest version of each report. */
export async function listReports(
  db: Executor,
  sessionId: string,
  { onlyNewest = false }: { onlyNewest?: boolean } = {},
): Promise<ReportSummary[]> {
  const rows = await db
    .select(summaryColumns)
    .from(reports)
    .where(and(eq(reports.sessionId, sessionId), onlyNewest ? isNewest : undefined))
    .orderBy(desc(reports.createdAt), desc(reports.version), desc(reports.id));
  return rows.map(toSummary);
}

/** Reads a report with its findings. Returns undefined if the session has no report with this id. */
export async function findReport(db: Executor, sessionId: string, id: string): Promise<Report | undefined> {
  const [row] = await db
    .select()
    .from(reports)
    .where(and(eq(reports.sessionId, sessionId), eq(reports.id, id)));
  if (!row) return undefined;
  const [newest] = await db
    .select({ id: reports.id, version: reports.version })
    .from(reports)
    .where(and(eq(reports.sessionId, sessionId), eq(reports.title, row.title)))
    .orderBy(desc(reports.version))
    .limit(1);
  const { id: newestId, version } = newest ?? row;
  return {
    ...toSummary(row),
    sessionId,
    newest: { id: newestId, version, url: reportUrl(sessionId, newestId) },
    // The casts are safe because the service itself composed `document` and `tested` when it stored the report.
    tested: row.tested as TestedVariant[],
    ...(row.document as ReportDocument),
  };
}

/** Finds the report that a call published. Returns undefined if there is no such report. */
export async function findReportOfCall(
  db: Executor,
  { runId, callId }: { runId: string; callId: string },
): Promise<ReportSummary | undefined> {
  const [row] = await db
    .select(summaryColumns)
    .from(reports)
    .where(and(eq(reports.runId, runId), eq(reports.callId, callId)));
  return row && toSummary(row);
}

/**
 * Locks a session until the transaction ends, so that two reports with the same title get different version numbers.
 */
export async function lockReports(tx: Transaction, sessionId: string): Promise<void> {
  await tx.select({ id: sessions.id }).from(sessions).where(eq(sessions.id, sessionId)).for("no key update");
}

/**
 * Counts the reports of a session. `version` is the newest version number of the report with this title, or 0 if no
 * report has the title.
 */
export async function countReports(
  tx: Transaction,
  sessionId: string,
  title: string,
): Promise<{ count: number; version: number }> {
  const [row] = await tx
    .select({
      count: count(),
      version: sql<number>`coalesce(max(${reports.version}) filter (where ${reports.title} = ${title}), 0)::int`,
    })
    .from(reports)
    .where(eq(reports.sessionId, sessionId));
  return row ?? { count: 0, version: 0 };
}

type NewReport = {
  id: string;
  sessionId: string;
  title: string;
  version: number;
  document: ReportDocument;
  counts: ReportSummary["counts"];
  tested: TestedVariant[];
  runId: string | null;
  callId: string | null;
};

/** Stores a report. The caller must have called `lockReports`. */
export async function insertReport(tx: Transaction, report: NewReport): Promise<ReportSummary> {
  const [row] = await tx
    .insert(reports)
    .values({ ...report, document: storable(report.document), tested: storable(report.tested) })
    .returning(summaryColumns);
  if (!row) throw new Error(`report ${report.id} was not stored`);
  return toSummary(row);
}
