import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import type { VariantSummary } from "#lib/events/event.ts";
import { findSelectedUrl } from "#lib/session/store/selected-url-store.ts";
import { pageDeadline } from "#lib/tools/browser/page-deadline.ts";
import { checkDocumentContent } from "./compile/check-document.ts";
import { describeDifference } from "./describe-difference.ts";
import type { RevisionInput, VariantDocument } from "./document.ts";
import { type Grounding, groundChanges } from "./grounding/ground-changes.ts";
import { describeReturned } from "./rejected-changes.ts";
import { describeProblem, revise } from "./revise.ts";
import { readPageScript } from "./shown-variant.ts";
import { storeRevision } from "./store-revision.ts";
import { readVariantHistory } from "./variant-history-store.ts";
import { findRevision, findRevisionOfCall } from "./variant-store.ts";
import type { VariantsDeps } from "./variants-deps.ts";

/** A call of the agent that changes a variant. */
type VariantCall = {
  /** The root session. Its sub-agents share its variants. */
  sessionId: string;
  requestId: string | null;
  runId: string | null;
  callId: string;
  variant: string;
  /** The newest revision that the caller has seen. If null, the call builds on the newest revision. */
  baseRevision: number | null;
  change: RevisionInput;
  signal: AbortSignal;
};

export type ApplyResult =
  | {
      ok: true;
      summary: VariantSummary;
      /** Whether an earlier attempt of this call stored the revision. */
      isRepeated: boolean;
      /** The result of the trial on the live page. Null if the session has no browser, or if the call is repeated. */
      grounding: (Grounding & { ok: true }) | null;
      /** Changes that got another id than the call gave them, one per line. */
      renamed: string[];
      /** Changes of the revision that a person has rejected before, one per line. */
      returned: string[];
    }
  | { ok: false; problem: string };

/** Deadline for trying a revision on the live page. Allows for slow selectors, hydration and a busy machine. */
const GROUND_MS_MAX = 25_000;
const PROBLEMS_SHOWN = 10;
const CHANGES_SHOWN = 20;
const EMPTY: VariantDocument = { pages: [] };

/**
 * Changes a variant: tries the new revision on the live page, stores it, and shows it. If `baseRevision` is not the
 * newest revision, or if the change is invalid, changes nothing or does not fit the page, nothing is stored, and the
 * page still shows the stored revision. If an earlier attempt of the call has stored a revision, returns that revision.
 *
 * @param live the session's browser; if undefined, the revision is stored without a trial.
 */
export async function applyVariant(
  deps: VariantsDeps,
  live: LiveBrowser | undefined,
  call: VariantCall,
): Promise<ApplyResult> {
  const { sessionId, runId, callId, variant, change } = call;
  const repeated = runId === null ? undefined : await findRevisionOfCall(deps.db, { runId, callId });
  if (repeated) return describeRepeated(repeated);
  const newest = await findRevision(deps.db, sessionId, variant);
  const before = newest?.document ?? EMPTY;
  const baseRevision = call.baseRevision ?? newest?.number ?? 0;
  if (baseRevision !== (newest?.number ?? 0)) return describeStale(deps, call, newest?.number ?? 0, before);

  const pageUrl = live ? live.page().url() : await findSelectedUrl(deps.db, sessionId);
  const { used, rejected } = await readVariantHistory(deps.db, sessionId, variant);
  const revised = revise(before, change, pageUrl, used);
  if (!revised.ok) return revised;
  const { document, givenIds } = revised;
  const problem = refuseDocument(document, before);
  if (problem !== undefined) return { ok: false, problem };

  const previous = live ? (await readPageScript(deps.db, sessionId)).immediate : "";
  const trial = { variant, document, before, previous };
  const grounding = live ? await tryOut(deps, live, trial, call.signal) : null;
  if (grounding && !grounding.ok) return grounding;
  const draft = { ...call, baseRevision, author: "agent", document } as const;
  const stored = await storeRevision(deps, draft);
  const renamed = [...givenIds].map(([id, given]) => `${id}: the id ${given} belonged to an earlier change.`);
  const returned = describeReturned(rejected, before, document, givenIds);
  if (stored.ok)
    return { ok: true, summary: stored.summary, isRepeated: false, grounding, renamed, returned };
  // The revision was not stored, for example because another author has stored a revision first. The page must show the
  // stored revision again instead of the revision of this call.
  if (live) await deps.browser.refreshPageScripts([live.sessionId]);
  if (stored.reason === "stale") return { ok: false, problem: explainStale(baseRevision, stored) };
  return {
    ok: false,
    problem: stored.reason === "refused" ? stored.problem : "this session was deleted.",
  };
}

/**
 * Tries a revision on the live page. If the trial throws, the page shows the stored revision again.
 *
 * @throws Error with a sentence if the page does not answer in time.
 */
async function tryOut(
  { browser }: VariantsDeps,
  live: LiveBrowser,
  trial: Parameters<typeof groundChanges>[1],
  signal: AbortSignal,
): Promise<Grounding> {
  try {
    return await pageDeadline(signal, GROUND_MS_MAX).race(() => groundChanges(live, trial));
  } catch (error) {
    await browser.refreshPageScripts([live.sessionId]);
    throw error;
  }
}

function describeRepeated({
  variant,
  number,
  check,
}: NonNullable<Awaited<ReturnType<typeof findRevisionOfCall>>>): ApplyResult {
  const checked = check ? { status: check.status, at: check.at } : null;
  const summary = { key: variant, revision: number, check: checked, publication: null };
  return { ok: true, summary, isRepeated: true, grounding: null, renamed: [], returned: [] };
}

/** Returns why a document cannot be stored, or undefined if it can. */
function refuseDocument(document: VariantDocument, before: VariantDocument): string | undefined {
  const problems = checkDocumentContent(document);
  if (problems.length > 0) {
    const lines = problems.slice(0, PROBLEMS_SHOWN).map((each) => describeProblem(document, each));
    if (problems.length > PROBLEMS_SHOWN) lines.push(`and ${problems.length - PROBLEMS_SHOWN} more problems`);
    return lines.join("\n");
  }
  if (JSON.stringify(document) === JSON.stringify(before))
    return "the call changes nothing: give add, drop, css, js or set.";
  return undefined;
}

async function describeStale(
  { db }: VariantsDeps,
  { sessionId, variant, baseRevision }: VariantCall,
  newest: number,
  document: VariantDocument,
): Promise<ApplyResult> {
  const base = baseRevision ? await findRevision(db, sessionId, variant, baseRevision) : undefined;
  const changes = describeDifference(base?.document ?? EMPTY, document);
  return { ok: false, problem: explainStale(baseRevision ?? 0, { newest, changes }) };
}

function explainStale(base: number, { newest, changes }: { newest: number; changes: string[] }): string {
  if (newest === 0) return `baseRevision: the variant has no revision yet, so it must be 0, not ${base}.`;
  if (base > newest) return `baseRevision: ${base} does not exist; the newest revision is ${newest}.`;
  const shown = changes.slice(0, CHANGES_SHOWN);
  const more = changes.length > shown.length ? [`and ${changes.length - shown.length} more`] : [];
  return [
    `baseRevision: ${base} is stale; the newest revision is ${newest}. Changed since:`,
    ...[...shown, ...more].map((line) => `- ${line}`),
    "Nothing was stored. Decide on top of that, and call again.",
  ].join("\n");
}
