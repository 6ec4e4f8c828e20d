import type { Database, Executor } from "#db/client.ts";
import { storableText } from "#db/storable.ts";
import type { ReportSummary } from "#lib/events/event.ts";
import type { EventLog } from "#lib/events/event-log.ts";
import type { EvidenceStore } from "#lib/evidence/evidence.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import { newId } from "#lib/session/new-id.ts";
import { findSession } from "#lib/session/store/session-store.ts";
import {
  composeDocument,
  countFindings,
  findUnknownEvidence,
  REPORT_LIMITS,
  type ReportInput,
  type TestedVariant,
} from "./report.ts";
import { countReports, findReportOfCall, insertReport, lockReports } from "./report-store.ts";

/** Dependencies for publishing reports; created once by the container. */
export type ReportsDeps = {
  db: Database;
  log: EventLog;
  evidence: Pick<EvidenceStore, "list">;
  /** Reads the newest revision of each variant of the session, and the check of that revision. */
  readTestedVariants: (db: Executor, sessionId: string) => Promise<TestedVariant[]>;
};

type PublishRequest = {
  /**
   * The root session, to which the report belongs. The report may also refer to evidence of the session's sub-agents.
   */
  sessionId: string;
  requestId: string | null;
  runId: string | null;
  callId: string | null;
  report: ReportInput;
};

type PublishResult =
  | { ok: true; isNew: boolean; report: ReportSummary }
  /** If the problem is in a field, `problem` begins with the name of that field. */
  | { ok: false; problem: string };

/**
 * Stores a report and emits `report.published`, in one transaction. If the session already has a report with the same
 * title, the new report becomes its next version. A repeated call returns the report of the first attempt. Source:
 * `architecture.md`, Reports.
 */
export async function publishReport(deps: ReportsDeps, request: PublishRequest): Promise<PublishResult> {
  const { sessionId, requestId, runId, callId, report: input } = request;
  const repeated = await findRepeated(deps.db, request);
  if (repeated) return { ok: true, isNew: false, report: repeated };
  const available = new Map(
    (await deps.evidence.list(sessionId)).map((piece) => [piece.id, toPointer(piece)]),
  );
  const unknown = findUnknownEvidence(input, available);
  if (unknown) return refuse(`${unknown.field}: the session has no evidence ${unknown.id}`);
  const document = composeDocument(input, available);
  const bytes = Buffer.byteLength(JSON.stringify(document));
  if (bytes > REPORT_LIMITS.bytes)
    return refuse(
      `findings: the report has ${bytes} bytes as JSON; a report may have ${REPORT_LIMITS.bytes}. Shorten the details`,
    );
  const published = await deps.log.transact<PublishResult>(sessionId, async (tx, emit) => {
    await lockReports(tx, sessionId);
    const session = await findSession(tx, sessionId);
    if (!session) return refuse("the session was deleted");
    const existing = await findRepeated(tx, request);
    if (existing) return { ok: true, isNew: false, report: existing };
    const title = storableText(input.title);
    const { count, version } = await countReports(tx, sessionId, title);
    if (count >= REPORT_LIMITS.reports)
      return refuse(
        `the session has ${REPORT_LIMITS.reports} reports; a session may have ${REPORT_LIMITS.reports}`,
      );
    const report = await insertReport(tx, {
      id: newId("rep"),
      sessionId,
      title,
      version: version + 1,
      document,
      counts: countFindings(document.findings),
      tested: await deps.readTestedVariants(tx, sessionId),
      runId,
      callId,
    });
    emit({ kind: "report.published", requestId, runId, source: session.source, report });
    return { ok: true, isNew: true, report };
  });
  await faultPoint("report-stored");
  return published;
}

const refuse = (problem: string): PublishResult => ({ ok: false, problem });

const findRepeated = async (db: Executor, { runId, callId }: PublishRequest) =>
  runId === null || callId === null ? undefined : findReportOfCall(db, { runId, callId });

type ListedEvidence = Awaited<ReturnType<EvidenceStore["list"]>>[number];

const toPointer = ({ id, kind, title, url, mediaType }: ListedEvidence) => ({
  id,
  kind,
  title,
  url,
  mediaType,
});
