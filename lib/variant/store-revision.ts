import type { Transaction } from "#db/client.ts";
import type { VariantAuthor } from "#db/schema/unions.ts";
import type { VariantSummary } from "#lib/events/event.ts";
import type { Emit } from "#lib/events/event-log.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import { recordOutcomes } from "#lib/planning/record-outcomes.ts";
import { findSession } from "#lib/session/store/session-store.ts";
import { listAcceptances } from "./acceptance-store.ts";
import { withAcceptances } from "./check/acceptances.ts";
import type { CheckReport } from "./check/check-report.ts";
import type { CheckedRequirement } from "./check/steps/check-requirements.ts";
import { describeDifference } from "./describe-difference.ts";
import type { VariantDocument } from "./document.ts";
import { countChanges, refuseVariant } from "./revise.ts";
import { refreshLiveBrowsers } from "./shown-variant.ts";
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

/** A revision to store as the successor of `baseRevision`. */
type RevisionDraft = {
  /** The root session. Its sub-agents share its variants. */
  sessionId: string;
  variant: string;
  /** The newest revision that the author has seen; 0 for a new variant. */
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
 * Stores a revision and its `variant.updated` event in one transaction, and updates the live browsers. If
 * `baseRevision` is not the newest revision, nothing is stored, and the result lists the changes since `baseRevision`.
 * Source: `architecture.md`, Variants.
 */
export async function storeRevision(deps: VariantsDeps, draft: RevisionDraft): Promise<StoredRevision> {
  const stored = await deps.log.transact(draft.sessionId, (tx, emit) => store(deps, tx, emit, draft));
  if (!stored.ok) return stored;
  await faultPoint("revision-stored");
  await refreshLiveBrowsers(deps, draft.sessionId);
  return stored;
}

async function store(
  { baseUrl }: VariantsDeps,
  tx: Transaction,
  emit: Emit,
  draft: RevisionDraft,
): Promise<StoredRevision> {
  const { sessionId, variant, baseRevision, author, document, runId, callId } = draft;
  const session = await findSession(tx, sessionId);
  if (!session) return { ok: false, reason: "unknown session" };
  const newest = await lockVariant(tx, sessionId, variant);
  if (newest !== baseRevision) return describeStale(tx, draft, newest);
  const problem = newest === 0 ? refuseVariant(await listVariantKeys(tx, sessionId), variant) : undefined;
  if (problem !== undefined) return { ok: false, reason: "refused", problem };
  const number = newest + 1;
  await insertRevision(tx, { sessionId, key: variant, number, author, runId, callId, document });
  // A revision of the agent makes its variant the shown variant. After a person's edit, a hidden variant stays hidden.
  if (author === "agent") await setShownVariant(tx, sessionId, variant);
  const summary = await emitVariant(baseUrl, tx, emit, { ...draft, key: variant, number });
  return { ok: true, summary };
}

async function describeStale(
  tx: Transaction,
  { sessionId, variant, baseRevision }: RevisionDraft,
  newest: number,
): Promise<StoredRevision> {
  const base = await findRevision(tx, sessionId, variant, baseRevision);
  const now = await findRevision(tx, sessionId, variant);
  const empty: VariantDocument = { pages: [] };
  const changes = describeDifference(base?.document ?? empty, now?.document ?? empty);
  return { ok: false, reason: "stale", newest, changes };
}

/**
 * Reads a variant in the shape in which the API lists it.
 *
 * @throws Error if there is no such variant.
 */
export async function readSummary(
  baseUrl: string,
  tx: Transaction,
  sessionId: string,
  key: string,
): Promise<VariantSummary> {
  const summary = (await listVariantSummaries(tx, sessionId, baseUrl)).find((each) => each.key === key);
  if (!summary) throw new Error(`variant ${key} of session ${sessionId} is gone`);
  return summary;
}

/** The variant that an event is about, and the request and run that caused the event. */
type VariantEvent = {
  sessionId: string;
  key: string;
  requestId: string | null;
  runId: string | null;
  /** The revision that the event is about. If undefined, the newest revision. */
  number?: number;
};

/**
 * Emits `variant.updated` with the variant's current state, and returns that state.
 *
 * @throws Error if the session or the variant does not exist.
 */
export async function emitVariant(
  baseUrl: string,
  tx: Transaction,
  emit: Emit,
  { sessionId, key, number, requestId, runId }: VariantEvent,
): Promise<VariantSummary> {
  const session = await findSession(tx, sessionId);
  const revision = await findRevision(tx, sessionId, key, number);
  const variant = await readSummary(baseUrl, tx, sessionId, key);
  if (!session || !revision) throw new Error(`variant ${key} of session ${sessionId} is gone`);
  const { author, document, isShown } = revision;
  const changeCount = countChanges(document);
  const about = { requestId, runId, source: session.source };
  emit({ kind: "variant.updated", ...about, variant, author, changeCount, isShown });
  return variant;
}

/**
 * Stores the report of a check and the outcomes of the requirements that the check examined, and emits
 * `variant.updated`. Changes that were not examined keep the acceptances of earlier checks.
 *
 * @returns the report with these acceptances. Undefined if the revision no longer exists; nothing is stored then.
 */
export async function recordCheck(
  { log, baseUrl }: Pick<VariantsDeps, "log" | "baseUrl">,
  about: { sessionId: string; requestId: string | null; runId: string | null },
  report: CheckReport,
  examined: readonly CheckedRequirement[] = [],
): Promise<CheckReport | undefined> {
  const { sessionId } = about;
  const { at, variant, revision, requirements = [] } = report;
  const checked = examined.flatMap(({ id, assertion }) => {
    const found = requirements.find((each) => each.id === id);
    return found ? [{ ...found, assertion }] : [];
  });
  return log.transact(sessionId, async (tx, emit) => {
    await lockVariant(tx, sessionId, variant);
    const checkedRevision = await findRevision(tx, sessionId, variant, revision);
    if (!checkedRevision) return undefined;
    const acceptances = await listAcceptances(tx, sessionId, variant);
    const stored = withAcceptances(report, checkedRevision.document, acceptances);
    await storeCheck(tx, sessionId, stored);
    await emitVariant(baseUrl, tx, emit, { ...about, key: variant, number: revision });
    const session = await findSession(tx, sessionId);
    if (session) await recordOutcomes(tx, emit, session, about, { at, variant, revision, checked });
    return stored;
  });
}

/**
 * Makes the live browsers of a session and its sub-agents show this variant, or no variant if `variant` is null.
 *
 * @returns false if there is no such variant.
 */
export async function showVariant(
  deps: VariantsDeps,
  sessionId: string,
  variant: string | null,
): Promise<boolean> {
  const isFound = await deps.log.transact(sessionId, async (tx, emit) => {
    const changed = variant ?? (await findShownRevision(tx, sessionId))?.variant;
    if (changed === undefined) return variant === null;
    await lockVariant(tx, sessionId, changed);
    if (!(await setShownVariant(tx, sessionId, variant))) return false;
    await emitVariant(deps.baseUrl, tx, emit, { sessionId, key: changed, requestId: null, runId: null });
    return true;
  });
  if (isFound) await refreshLiveBrowsers(deps, sessionId);
  return isFound;
}
