import type { Transaction } from "#db/client.ts";
import type { VariantAuthor } from "#db/schema/unions.ts";
import type { VariantSummary } from "#lib/events/event.ts";
import type { Emit } from "#lib/events/event-log.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import { findSession } from "#lib/session/session-store.ts";
import type { CheckReport } from "./check/check-report.ts";
import type { VariantDocument } from "./document.ts";
import { countChanges, describeDifference, refuseVariant } from "./revise.ts";
import { showEverywhere } from "./shown-variant.ts";
import {
  findRevision,
  findShownRevision,
  insertRevision,
  listVariantKeys,
  listVariantSummaries,
  lockVariant,
  setShownVariant,
  storeCheck,
} from "./variant-store.ts";
import type { VariantsDeps } from "./variants-deps.ts";

/** A revision to store, on top of `baseRevision`. */
type RevisionDraft = {
  /** The root of the tree: its sub-agents share its variants. */
  sessionId: string;
  variant: string;
  /** The newest revision that the author knows; 0 for a new variant. */
  baseRevision: number;
  author: VariantAuthor;
  document: VariantDocument;
  requestId: string | null;
  runId: string | null;
  callId: string | null;
};

type StoredRevision =
  | { ok: true; summary: VariantSummary }
  | { ok: false; reason: "stale"; newest: number; changes: string[] }
  | { ok: false; reason: "refused"; problem: string }
  | { ok: false; reason: "unknown session" };

/**
 * Stores a revision and its `variant.updated` in one transaction, and shows it in the live browser. A revision on top of an
 * older one than the newest is refused with what changed since. Source: `architecture.md`, Variants.
 */
export async function storeRevision(deps: VariantsDeps, draft: RevisionDraft): Promise<StoredRevision> {
  const stored = await deps.log.transact(draft.sessionId, (tx, emit) => store(tx, emit, draft));
  if (!stored.ok) return stored;
  await faultPoint("revision-stored");
  await showEverywhere(deps, draft.sessionId);
  return stored;
}

async function store(tx: Transaction, emit: Emit, draft: RevisionDraft): Promise<StoredRevision> {
  const { sessionId, variant, baseRevision, author, document, runId, callId } = draft;
  const session = await findSession(tx, sessionId);
  if (!session) return { ok: false, reason: "unknown session" };
  const newest = await lockVariant(tx, sessionId, variant);
  if (newest !== baseRevision) return describeStale(tx, draft, newest);
  const problem = newest === 0 ? refuseVariant(await listVariantKeys(tx, sessionId), variant) : undefined;
  if (problem !== undefined) return { ok: false, reason: "refused", problem };
  const number = newest + 1;
  await insertRevision(tx, { sessionId, key: variant, number, author, runId, callId, document });
  // A person who edits a variant that is switched off does not switch it on.
  if (author === "agent") await setShownVariant(tx, sessionId, variant);
  const isShown = (await findShownRevision(tx, sessionId))?.variant === variant;
  const summary = await readSummary(tx, sessionId, variant);
  emit({
    kind: "variant.updated",
    requestId: draft.requestId,
    runId,
    source: session.source,
    variant: summary,
    author,
    changeCount: countChanges(document),
    isShown,
  });
  return { ok: true, summary };
}

async function describeStale(
  tx: Transaction,
  { sessionId, variant, baseRevision }: RevisionDraft,
  newest: number,
): Promise<StoredRevision> {
  const known = await findRevision(tx, sessionId, variant, baseRevision);
  const now = await findRevision(tx, sessionId, variant);
  const empty: VariantDocument = { pages: [] };
  const changes = describeDifference(known?.document ?? empty, now?.document ?? empty);
  return { ok: false, reason: "stale", newest, changes };
}

async function readSummary(tx: Transaction, sessionId: string, key: string): Promise<VariantSummary> {
  const summary = (await listVariantSummaries(tx, sessionId)).find((each) => each.key === key);
  if (!summary) throw new Error(`variant ${key} of session ${sessionId} is gone`);
  return summary;
}

/** Stores the check of a revision and its `variant.updated`. @returns false if the revision does not exist any more. */
export async function recordCheck(
  { log }: Pick<VariantsDeps, "log">,
  about: { sessionId: string; requestId: string | null; runId: string | null },
  report: CheckReport,
): Promise<boolean> {
  const { sessionId } = about;
  return log.transact(sessionId, async (tx, emit) => {
    const session = await findSession(tx, sessionId);
    await lockVariant(tx, sessionId, report.variant);
    const revision = await findRevision(tx, sessionId, report.variant, report.revision);
    if (!session || !revision || !(await storeCheck(tx, sessionId, report))) return false;
    emit({
      kind: "variant.updated",
      requestId: about.requestId,
      runId: about.runId,
      source: session.source,
      variant: await readSummary(tx, sessionId, report.variant),
      author: revision.author,
      changeCount: countChanges(revision.document),
      isShown: revision.isShown,
    });
    return true;
  });
}

/** Chooses the variant that the live browsers of a tree show; null for none. @returns false if there is no such variant. */
export async function showVariant(
  deps: VariantsDeps,
  sessionId: string,
  variant: string | null,
): Promise<boolean> {
  const isKnown = await deps.log.transact(sessionId, async (tx, emit) => {
    const session = await findSession(tx, sessionId);
    const changed = variant ?? (await findShownRevision(tx, sessionId))?.variant;
    if (!session || changed === undefined) return variant === null;
    await lockVariant(tx, sessionId, changed);
    const revision = await findRevision(tx, sessionId, changed);
    if (!revision || !(await setShownVariant(tx, sessionId, variant))) return false;
    emit({
      kind: "variant.updated",
      requestId: null,
      runId: null,
      source: session.source,
      variant: await readSummary(tx, sessionId, changed),
      author: revision.author,
      changeCount: countChanges(revision.document),
      isShown: variant !== null,
    });
    return true;
  });
  if (isKnown) await showEverywhere(deps, sessionId);
  return isKnown;
}
