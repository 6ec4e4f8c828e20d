import type { Executor } from "#db/client.ts";
import { listSessionPages } from "#lib/landing/list-session-pages.ts";
import { toPlan } from "#lib/planning/plan.ts";
import { findPlan, listRequirementRows } from "#lib/planning/planning-store.ts";
import { toRequirement } from "#lib/planning/requirement.ts";
import { findReport, listReports } from "#lib/reports/report-store.ts";
import type { ExportedPage, ExportedPlan, ExportedReport, ExportedRequirement } from "./format.ts";

/** Reads the plan of a root session for an export. Returns null if the plan was never written and its mode is off. */
export async function readPlan(db: Executor, sessionId: string): Promise<ExportedPlan | null> {
  const { mode, author, items, revision } = toPlan(await findPlan(db, sessionId));
  return revision === 0 && mode === "off" ? null : { mode, author, items };
}

/** Reads the requirements of a root session for an export. */
export async function readRequirements(db: Executor, sessionId: string): Promise<ExportedRequirement[]> {
  return (await listRequirementRows(db, sessionId)).map((row) => {
    const { id, text, status, note, author, assertion, outcome, evidenceIds } = toRequirement(row);
    return { id, text, status, note, author, assertion, outcome, evidenceIds };
  });
}

/** Reads the newest version of each report of a session, oldest report first. Loads one report at a time. */
export async function* readReports(db: Executor, sessionId: string): AsyncIterable<ExportedReport> {
  for (const { id } of (await listReports(db, sessionId, { onlyNewest: true })).toReversed()) {
    const report = await findReport(db, sessionId, id);
    if (!report) continue;
    const { title, version, createdAt, counts, tested, summary, findings } = report;
    yield { id, title, version, createdAt, counts, tested, summary, findings };
  }
}

/** Reads the landing pages of a session for an export, without their files. */
export async function readPages(
  db: Executor,
  sessionId: string,
  pagesOrigin: string,
): Promise<ExportedPage[]> {
  const pages = await listSessionPages(db, sessionId, pagesOrigin);
  return pages.map(({ slug, url, version, note }) => ({ slug, url, version, note }));
}
