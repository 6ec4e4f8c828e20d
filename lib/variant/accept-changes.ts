import type { Transaction } from "#db/client.ts";
import { repeatOnDeadlock } from "#db/repeat-on-deadlock.ts";
import type { AcceptedBy } from "#db/schema/unions.ts";
import type { VariantSummary } from "#lib/events/event.ts";
import type { Emit } from "#lib/events/event-log.ts";
import { insertAcceptances, listAcceptances } from "./acceptance-store.ts";
import { type Acceptance, hashChange, withAcceptances } from "./check/acceptances.ts";
import type { CheckReport } from "./check/check-report.ts";
import { listUnexamined } from "./check/conclude-check.ts";
import { emitVariant, readSummary } from "./store-revision.ts";
import { findRevision, lockVariant, type Revision, storeCheck } from "./variant-store.ts";
import type { VariantsDeps } from "./variants-deps.ts";

/** A request to accept changes that the check of the newest revision could not examine. The agent cannot make one. */
type AcceptRequest = {
  sessionId: string;
  variant: string;
  /** The revision and the time of its check, as the caller has read them. */
  revision: number;
  checkedAt: string;
  changes: readonly string[];
  by: AcceptedBy;
  /** Names the credential, as the security log does. */
  actor: string;
};

type AcceptResult =
  | { ok: true; summary: VariantSummary }
  | { ok: false; reason: "unknown variant" | "unknown change" | "refused"; problem: string };

type Refusal = Extract<AcceptResult, { ok: false }>;

/**
 * Accepts that the check of the newest revision could not examine these changes. The check passes if nothing failed and
 * all such changes are accepted. Accepting a change again has no effect. Source: `decision 081`.
 */
export const acceptChanges = (deps: VariantsDeps, request: AcceptRequest): Promise<AcceptResult> =>
  repeatOnDeadlock(() =>
    deps.log.transact(request.sessionId, (tx, emit) => accept(deps.baseUrl, tx, emit, request)),
  );

async function accept(
  baseUrl: string,
  tx: Transaction,
  emit: Emit,
  request: AcceptRequest,
): Promise<AcceptResult> {
  const { sessionId, variant: key, actor } = request;
  await lockVariant(tx, sessionId, key);
  const newest = await findRevision(tx, sessionId, key);
  if (!newest) return { ok: false, reason: "unknown variant", problem: `there is no variant ${key}` };
  const { check } = newest;
  const refusal = refuseStale(request, newest);
  if (refusal || !check) return refusal ?? unchecked(newest);
  const problem = refuseChanges(request, check);
  if (problem) return problem;
  const accepted = makeAcceptances(request, newest, check);
  if (accepted.length === 0) {
    const summary = await readSummary(baseUrl, tx, sessionId, key);
    return { ok: true, summary };
  }
  await insertAcceptances(tx, { sessionId, key, actor }, accepted);
  const acceptances = await listAcceptances(tx, sessionId, key);
  await storeCheck(tx, sessionId, withAcceptances(check, newest.document, acceptances));
  const about = { sessionId, key, number: newest.number, requestId: null, runId: null };
  return { ok: true, summary: await emitVariant(baseUrl, tx, emit, about) };
}

function refuseStale(
  { revision, checkedAt }: AcceptRequest,
  { number, check }: Revision,
): Refusal | undefined {
  if (revision !== number) return refuse(`revision: the newest revision is ${number}; read it and its check`);
  if (check && check.at !== checkedAt)
    return refuse(`checkedAt: the newest check of revision ${number} is from ${check.at}; read it`);
  return undefined;
}

const refuse = (problem: string): Refusal => ({ ok: false, reason: "refused", problem });

const unchecked = ({ number }: Revision): Refusal => refuse(`revision: revision ${number} was not checked`);

/** Refuses changes that the check does not name, and changes that it has proved or that have failed. */
function refuseChanges({ changes }: AcceptRequest, report: CheckReport): Refusal | undefined {
  const unexamined = listUnexamined(report);
  for (const id of changes) {
    const outcomes = report.pages.flatMap((page) => page.changes.filter((each) => each.id === id));
    if (outcomes.length === 0)
      return { ok: false, reason: "unknown change", problem: `changes: the check has no change ${id}` };
    if (outcomes.some(({ outcome }) => outcome === "failed"))
      return refuse(`changes: ${id} failed; only changes that were not examined can be accepted`);
    if (!unexamined.has(id)) return refuse(`changes: ${id} was proved; there is nothing to accept`);
  }
  return undefined;
}

/** Creates the acceptances of those changes that are not accepted yet. */
function makeAcceptances(
  { changes: ids, by: acceptedBy }: AcceptRequest,
  { number: revision, document }: Revision,
  report: CheckReport,
): Acceptance[] {
  const places = listUnexamined(report);
  const accepted = new Set(
    report.pages.flatMap((page) => page.changes.flatMap((each) => (each.accepted ? [each.id] : []))),
  );
  const acceptedAt = new Date();
  return document.pages
    .flatMap(({ changes }) => changes)
    .filter(({ id }) => ids.includes(id) && !accepted.has(id))
    .map((change) => ({
      revision,
      changeId: change.id,
      changeHash: hashChange(change),
      places: places.get(change.id) ?? [],
      acceptedBy,
      acceptedAt,
    }));
}
