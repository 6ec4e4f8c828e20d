import type { Transaction } from "#db/client.ts";
import type { VariantAuthor } from "#db/schema/unions.ts";
import type { ImportSummary } from "#lib/events/event.ts";
import type { Emit } from "#lib/events/event-log.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import { type ByteLimits, describeExcess } from "#lib/session/byte-limits.ts";
import { newId } from "#lib/session/new-id.ts";
import { lockSession } from "#lib/session/store/session-store.ts";
import { VARIANT_LIMITS } from "#lib/variant/document.ts";
import { emitVariant } from "#lib/variant/store-revision.ts";
import { insertRevision, listVariantKeys } from "#lib/variant/variant-store.ts";
import type { LeftOut } from "./format.ts";
import { preparePlanning } from "./import-planning.ts";
import { findEarlierImport, type ImportRow, insertImport, measureImports } from "./import-store.ts";
import type { PortingDeps } from "./porting-deps.ts";
import type { ImportPlan } from "./read-document.ts";

type ImportRequest = {
  sessionId: string;
  plan: ImportPlan;
  author: VariantAuthor;
  requestId: string | null;
  /**
   * The run of the tool call that imports the document. A repeated call finds its import by `runId` and `callId`. Both
   * ids are null if a person or a program imports the document.
   */
  runId: string | null;
  callId: string | null;
};

type ImportedDocument =
  | { ok: true; isNew: boolean; summary: ImportSummary; leftOut: LeftOut[] }
  | { ok: false; reason: "unknown" | "full" | "sub-agent"; problem: string };

/** Maximum number of imports of one session. */
const IMPORTS_MAX = 100;

/**
 * Imports a document into a session in one transaction. The document's variants become new variants. The messages of
 * its conversation can be read in the session, but do not become messages of the session. `preparePlanning` decides
 * which plan items and requirements of the document are imported. Existing variants never change: if a key is taken,
 * the new variant's key gets a number. Importing the same document again changes nothing.
 * Source: `wire.md`, Export and import of a session.
 */
export function importDocument(deps: PortingDeps, request: ImportRequest): Promise<ImportedDocument> {
  return deps.log.transact(request.sessionId, (tx, emit) => store(deps, tx, emit, request));
}

async function store(
  { baseUrl, importBytes }: PortingDeps,
  tx: Transaction,
  emit: Emit,
  request: ImportRequest,
): Promise<ImportedDocument> {
  const { sessionId, plan, author, requestId, runId, callId } = request;
  // The lock prevents two imports from choosing the same key for a variant.
  const session = await lockSession(tx, sessionId);
  if (!session) return { ok: false, reason: "unknown", problem: "no such session" };
  if (session.parentSessionId !== null)
    return {
      ok: false,
      reason: "sub-agent",
      problem: "import into the root session, not into a sub-agent",
    };
  const earlier = await findEarlierImport(tx, sessionId, { documentId: plan.documentId, runId, callId });
  if (earlier) return { ok: true, isNew: false, summary: summarizeImport(earlier), leftOut: earlier.leftOut };
  const keys = await listVariantKeys(tx, sessionId);
  const problem = refuse(keys.length, plan, await measureImports(tx, session), importBytes);
  if (problem !== undefined) return { ok: false, reason: "full", problem };
  const planning = await preparePlanning(tx, session, author, plan);
  if (typeof planning === "string") return { ok: false, reason: "full", problem: planning };
  const variants = chooseKeys(keys, plan);
  for (const { key, document } of variants)
    await insertRevision(tx, { sessionId, key, number: 1, author, runId: null, callId: null, document });
  const stored = await insertImport(
    tx,
    {
      id: newId("imp"),
      sessionId,
      documentId: plan.documentId,
      format: plan.format,
      title: plan.title,
      sourceSessionId: plan.sourceSessionId,
      exportedAt: plan.exportedAt === null ? null : new Date(plan.exportedAt),
      author,
      runId,
      callId,
      variants: variants.map(({ from, key }) => ({ from, key, revision: 1 })),
      messageCount: plan.messages.length,
      planItemCount: planning.planItemCount,
      requirementCount: planning.requirementCount,
      leftOut: [...plan.leftOut, ...planning.leftOut],
      sizeBytes: plan.sizeBytes,
    },
    plan.messages,
  );
  await faultPoint("import-half-stored");
  for (const { key } of variants) await emitVariant(baseUrl, tx, emit, { sessionId, key, requestId, runId });
  await planning.store(tx, emit, { requestId, runId, callId });
  const summary = summarizeImport(stored);
  emit({ kind: "document.imported", requestId, runId, source: session.source, import: summary });
  return { ok: true, isNew: true, summary, leftOut: stored.leftOut };
}

function refuse(
  variantCount: number,
  { variants, sizeBytes: added }: ImportPlan,
  { count, sessionBytes, ownerBytes }: Awaited<ReturnType<typeof measureImports>>,
  limits: ByteLimits,
): string | undefined {
  const { variantsMax } = VARIANT_LIMITS;
  if (variantCount + variants.length > variantsMax)
    return `variants: the session has ${variantCount} and the document adds ${variants.length}; a session may have ${variantsMax}`;
  if (count >= IMPORTS_MAX)
    return `document: the session has ${count} imports; a session may have ${IMPORTS_MAX}`;
  const session = { total: sessionBytes + added, added };
  const owner = { total: ownerBytes + added, added };
  return describeExcess("document: with it the imports", "IMPORTS", { session, owner }, limits);
}

/**
 * Chooses a key for each variant of the document. If the key from the document is already used, appends the lowest
 * number that makes the key unique, and shortens the part before the number so that the key has at most 32 characters.
 */
function chooseKeys(existing: readonly string[], { variants }: ImportPlan) {
  const used = new Set(existing);
  return variants.map(({ key: from, document }) => {
    let key = from;
    for (let number = 2; used.has(key); number++) {
      const suffix = `-${number}`;
      key = `${from.slice(0, 32 - suffix.length)}${suffix}`;
    }
    used.add(key);
    return { from, key, document };
  });
}

/** Converts an import to the summary that events and lists show. */
export const summarizeImport = (row: ImportRow): ImportSummary => ({
  id: row.id,
  format: row.format,
  documentId: row.documentId,
  title: row.title,
  sourceSessionId: row.sourceSessionId,
  exportedAt: row.exportedAt?.toISOString() ?? null,
  author: row.author,
  variants: row.variants,
  messageCount: row.messageCount,
  planItemCount: row.planItemCount,
  requirementCount: row.requirementCount,
  leftOutCount: row.leftOut.length,
  createdAt: row.createdAt.toISOString(),
});
