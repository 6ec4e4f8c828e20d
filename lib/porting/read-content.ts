import { listBriefly } from "#lib/agents/agent-store.ts";
import { listAnnotations } from "#lib/annotation/list-annotations.ts";
import { findPictureAfter } from "#lib/browser/store/recording-store.ts";
import type { TranscriptMessage } from "#lib/events/event.ts";
import type { Receipt } from "#lib/receipts/find/receipt.ts";
import { findNewestReceipts } from "#lib/receipts/receipts-store.ts";
import { findSessionRuns } from "#lib/session/list/list-store.ts";
import { projectSessionState } from "#lib/session/list/project-session-state.ts";
import { projectDeliverable } from "#lib/session/run/status.ts";
import { type DeliverableRow, listDeliverables } from "#lib/session/store/run-store.ts";
import { findSession, type SessionRow } from "#lib/session/store/session-store.ts";
import { listTestRuns } from "#lib/test-runs/test-run-store.ts";
import { listPreviews } from "#lib/variant/previews/preview-store.ts";
import { findRevision, listVariantSummaries } from "#lib/variant/variant-store.ts";
import type {
  ExportedAgent,
  ExportedEvidence,
  ExportedImport,
  ExportedMessage,
  ExportedPage,
  ExportedPlan,
  ExportedReport,
  ExportedRequirement,
  ExportedSession,
  ExportedVariant,
  LeftOut,
  SessionExport,
} from "./format.ts";
import {
  type ImportedMessageRow,
  type ImportRow,
  listImportedMessages,
  listImports,
  listResults,
} from "./import-store.ts";
import type { PortingDeps } from "./porting-deps.ts";
import { readPages, readPlan, readReports, readRequirements } from "./read-work.ts";

/** A document that was imported into the session. Its messages are read page by page. */
type ImportContent = Omit<ExportedImport, "messages"> & { messages: () => AsyncIterable<ExportedMessage> };

/**
 * The content of a session that an export writes. A part that may be large is a function that reads a few entries at a
 * time. The other parts are in memory.
 */
/** A picture of the recording, and the page that it shows. */
type RecordedPage = { url: string; title: string; takenAt: string; sizeBytes: number; data: string };

export type SessionContent = {
  id: string;
  exportedAt: string;
  session: ExportedSession;
  messages: () => AsyncIterable<ExportedMessage>;
  variants: () => AsyncIterable<ExportedVariant>;
  plan: ExportedPlan | null;
  requirements: ExportedRequirement[];
  reports: () => AsyncIterable<ExportedReport>;
  pages: ExportedPage[];
  deliverables: SessionExport["deliverables"];
  receipts: () => AsyncIterable<NonNullable<SessionExport["receipts"]>[number]>;
  previews: SessionExport["previews"];
  annotations: () => AsyncIterable<SessionExport["annotations"][number]>;
  agents: ExportedAgent[];
  imports: () => AsyncIterable<ImportContent>;
  evidence: ExportedEvidence[];
  /** Reads the bytes of evidence, and returns them as a data URL. Returns undefined if the bytes cannot be read. */
  readData: (evidence: ExportedEvidence) => Promise<string | undefined>;
  /** Returns the picture of the page as a call left it, as a data URL. Undefined if the recording has none. */
  readPageAfter: (callId: string) => Promise<RecordedPage | undefined>;
  /**
   * The parts that the export leaves out. Reading other parts may append to this list, so the list must be written
   * last.
   */
  leftOut: LeftOut[];
  /** Whether the session still exists. If the session was deleted during the export, the export is incomplete. */
  exists: () => Promise<boolean>;
};

const PAGE = 100;
const DELIVERABLES_MAX = 100;
const AGENTS_MAX = 100;
const RESULT_CHARACTERS_MAX = 4_096;

/**
 * Reads a session for an export. Messages and imports are read page by page, so memory use does not grow with the
 * number of messages. The content has no secrets: it lacks headers, tokens, the callback, share links, the system
 * prompt and metadata.
 */
export async function readSessionContent(deps: PortingDeps, session: SessionRow): Promise<SessionContent> {
  const { db, evidence } = deps;
  const { id } = session;
  const isRoot = session.parentSessionId === null;
  const leftOut: LeftOut[] = [];
  const deliverables = await listDeliverables(db, id, DELIVERABLES_MAX + 1);
  if (deliverables.length > DELIVERABLES_MAX)
    leftOut.push({ field: "deliverables", reason: `Only the newest ${DELIVERABLES_MAX} are exported.` });
  const agents = await readAgents(deps, id, leftOut);
  if ((await listTestRuns(db, id, { limit: 1 })).length > 0)
    leftOut.push({ field: "testRuns", reason: "Test runs and their results are not exported." });
  const listed = await evidence.list(id);
  return {
    id: `${id}@${session.eventSeq}`,
    exportedAt: new Date().toISOString(),
    session: await describeSession(deps, session),
    messages: () => readMessages(deps, id, session.messageSeq),
    // Variants belong to the root session. The export of a sub-agent's session has none.
    variants: () => (isRoot ? readVariants(deps, id) : nothing()),
    // The plan and the requirements belong to the root session. The export of a sub-agent's session has none.
    plan: isRoot ? await readPlan(db, id) : null,
    requirements: isRoot ? await readRequirements(db, id) : [],
    reports: () => readReports(db, id),
    pages: await readPages(db, id, deps.pagesOrigin),
    deliverables: deliverables
      .slice(0, DELIVERABLES_MAX)
      .toReversed()
      .map((row) => projectDeliverable(row.runId, row)),
    receipts: () => readReceipts(deps, deliverables.slice(0, DELIVERABLES_MAX).toReversed()),
    previews: isRoot ? await listPreviews(db, id) : [],
    annotations: () => readAnnotations(deps, id),
    agents,
    imports: () => readImports(deps, id),
    evidence: listed,
    readData: async ({ id: evidenceId, mediaType }) => {
      const stored = await evidence.read(id, evidenceId);
      return stored?.bytes && `data:${mediaType};base64,${Buffer.from(stored.bytes).toString("base64")}`;
    },
    async readPageAfter(callId) {
      const picture = await findPictureAfter(db, id, callId);
      if (!picture) return undefined;
      const { bytes, takenAt, url, title, sizeBytes } = picture;
      const data = `data:image/jpeg;base64,${Buffer.from(bytes).toString("base64")}`;
      return { url, title, sizeBytes, takenAt: takenAt.toISOString(), data };
    },
    leftOut,
    exists: async () => (await findSession(db, id)) !== undefined,
  };
}

async function* nothing(): AsyncIterable<never> {}

async function describeSession({ db }: PortingDeps, session: SessionRow): Promise<ExportedSession> {
  const { id } = session;
  const { last, open } = await findSessionRuns(db, [id]);
  return {
    id,
    title: session.title,
    source: session.source,
    createdAt: session.createdAt.toISOString(),
    ...projectSessionState(open.get(id), last.get(id)),
    targetUrl: session.targetUrl,
    targetPageUrls: session.targetPageUrls,
    outputSchema: session.outputSchema,
    capabilities: session.capabilities,
    subAgents: session.subAgents,
    skills: (session.skills ?? []).map(({ name, version }) => ({ name, version })),
  };
}

/** Reads the receipts of deliverables, one deliverable at a time. Those that are not made yet are left out. */
async function* readReceipts({ db }: PortingDeps, deliverables: DeliverableRow[]) {
  for (const { sessionId, runId } of deliverables) {
    const row = await findNewestReceipts(db, sessionId, runId);
    // The cast is safe because only the worker thread that looks up values writes the list.
    if (row?.list) yield { runId, receipts: JSON.parse(row.list) as Receipt[] };
  }
}

/**
 * Reads the messages of a session, page by page.
 *
 * @param last `seq` of the last message to export. Messages that were added after the export began have a higher `seq`,
 * and are skipped.
 */
async function* readMessages(deps: PortingDeps, id: string, last: number): AsyncIterable<ExportedMessage> {
  for (let after = 0; after < last; ) {
    const page = (await deps.transcript.list(id, { after, limit: PAGE })).filter(({ seq }) => seq <= last);
    if (page.length === 0) return;
    yield* await withResults(deps, page);
    after = page.at(-1)?.seq ?? last;
  }
}

async function withResults({ db }: PortingDeps, page: TranscriptMessage[]): Promise<ExportedMessage[]> {
  const callsOf = ({ parts, runId }: TranscriptMessage) =>
    parts.flatMap((part) =>
      part.type === "tool-call" && runId !== null ? [{ runId, callId: part.toolCallId }] : [],
    );
  const results = await listResults(db, page.flatMap(callsOf));
  return page.map((message) => {
    const { id, role, parts, createdAt } = message;
    const own = callsOf(message).flatMap(({ runId, callId }) => results.get(`${runId} ${callId}`) ?? []);
    return { id, role, parts, results: own, author: null, createdAt };
  });
}

async function* readVariants({ db, baseUrl }: PortingDeps, id: string): AsyncIterable<ExportedVariant> {
  for (const { key, revision, check, publication } of await listVariantSummaries(db, id, baseUrl)) {
    const found = await findRevision(db, id, key, revision);
    if (!found) continue;
    const { author, createdAt, document } = found;
    yield { key, revision, author, createdAt: createdAt.toISOString(), document, check, publication };
  }
}

async function* readAnnotations(
  { db }: PortingDeps,
  id: string,
): AsyncIterable<SessionExport["annotations"][number]> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await listAnnotations(db, id, { ...(cursor !== undefined && { cursor }), limit: PAGE });
    yield* page.data;
    cursor = page.nextCursor;
  }
}

async function readAgents({ db }: PortingDeps, id: string, leftOut: LeftOut[]): Promise<ExportedAgent[]> {
  const rows = await listBriefly(db, id, RESULT_CHARACTERS_MAX);
  if (rows.length >= AGENTS_MAX)
    leftOut.push({ field: "agents", reason: `At most ${AGENTS_MAX} sub-agents are listed: the newest.` });
  if (rows.length > 0)
    leftOut.push({
      field: "agents",
      reason: "The conversations of sub-agents are exports of their own sessions.",
    });
  return rows.map((row) => ({
    id: row.sessionId,
    parentId: row.parentSessionId,
    name: row.name,
    objective: row.objective,
    depth: row.depth,
    status: row.outcome,
    result: row.resultText,
    isResultCut: row.isResultCut,
  }));
}

async function* readImports({ db }: PortingDeps, id: string): AsyncIterable<ImportContent> {
  for (let before: ImportRow | undefined, more = true; more; ) {
    const page: ImportRow[] = await listImports(db, id, { ...(before && { before }), limit: PAGE });
    for (const row of page)
      yield {
        id: row.id,
        documentId: row.documentId,
        format: row.format,
        title: row.title,
        sourceSessionId: row.sourceSessionId,
        createdAt: row.createdAt.toISOString(),
        messages: () => readImportedMessages(db, row.id),
      };
    before = page.at(-1);
    more = page.length === PAGE;
  }
}

async function* readImportedMessages(
  db: PortingDeps["db"],
  importId: string,
): AsyncIterable<ExportedMessage> {
  for (let after = 0, more = true; more; ) {
    const page = await listImportedMessages(db, importId, { after, limit: PAGE });
    yield* page.map(toExportedMessage);
    after = page.at(-1)?.position ?? after;
    more = page.length === PAGE;
  }
}

/** Converts a stored message of an import to the shape that exports use. */
export const toExportedMessage = (row: ImportedMessageRow): ExportedMessage => ({
  id: row.originalId,
  role: row.role,
  parts: row.parts,
  results: row.results,
  author: null,
  createdAt: row.writtenAt.toISOString(),
});
