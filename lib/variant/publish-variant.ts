import type { Transaction } from "#db/client.ts";
import { repeatOnDeadlock } from "#db/repeat-on-deadlock.ts";
import type { VariantAuthor } from "#db/schema/unions.ts";
import type { Publication, VariantSummary } from "#lib/events/event.ts";
import type { Emit } from "#lib/events/event-log.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import {
  findRelease,
  findReleaseOfCall,
  insertRelease,
  lockPublication,
  lockPublicationOf,
  type PublicationRow,
  type ReleaseRow,
  readPublication,
  setCurrentRelease,
  withdrawReleases,
} from "#lib/publication/publication-store.ts";
import { computeIntegrity, isPassed, toPublication } from "#lib/publication/release.ts";
import { newId } from "#lib/session/new-id.ts";
import { findSession, type SessionRow } from "#lib/session/store/session-store.ts";
import { describeUnaccepted, hasFailure, listUnaccepted } from "./check/conclude-check.ts";
import { variantScript } from "./compile/variant-script.ts";
import { refreshLiveBrowsers } from "./shown-variant.ts";
import { emitVariant, readSummary } from "./store-revision.ts";
import { findRevision, lockVariant, type Revision } from "./variant-store.ts";
import type { VariantsDeps } from "./variants-deps.ts";

/** A request to publish the newest revision of a variant. */
type PublishRequest = {
  /** The root session. Its sub-agents share its variants. */
  sessionId: string;
  variant: string;
  author: VariantAuthor;
  /**
   * The revision that the author expects to publish. The request is refused if the newest revision is a different one.
   */
  revision?: number | undefined;
  /** If true, the revision may be published even if it was not checked or failed its check. */
  allowsUnchecked: boolean;
  requestId: string | null;
  runId: string | null;
  callId: string | null;
};

export type PublishResult =
  | { ok: true; isNew: boolean; publication: Publication; summary: VariantSummary }
  | {
      ok: false;
      reason: "unknown" | "stale" | "unchecked" | "failed" | "unaccepted" | "full";
      problem: string;
    };

/**
 * Maximum number of releases of a publication. Old releases are never removed, because pages may load their scripts.
 */
const RELEASES_MAX = 500;

/**
 * Publishes the newest revision of a variant as an immutable release, and makes this release the current one. Creates
 * no release if the current release already contains the revision, or if an earlier attempt of the call created one.
 * Source: `architecture.md`, Publications.
 */
export async function publishVariant(deps: VariantsDeps, request: PublishRequest): Promise<PublishResult> {
  const { sessionId } = request;
  await faultPoint("publish-begun");
  const published = await repeatOnDeadlock(() =>
    deps.log.transact(sessionId, (tx, emit) => publish(deps, tx, emit, request)),
  );
  if (!published.ok || !published.isNew) return published;
  await faultPoint("release-stored");
  deps.publishedScripts.forget(published.publication.id);
  // The session's own browsers must not run published scripts. `refreshLiveBrowsers` updates the script that disables them.
  await refreshLiveBrowsers(deps, sessionId);
  return published;
}

async function publish(
  deps: VariantsDeps,
  tx: Transaction,
  emit: Emit,
  request: PublishRequest,
): Promise<PublishResult> {
  const { sessionId, variant, runId, callId } = request;
  const newest = await lockVariant(tx, sessionId, variant);
  const session = await findSession(tx, sessionId);
  const revision = await findRevision(tx, sessionId, variant);
  if (!session || !revision)
    return { ok: false, reason: "unknown", problem: `there is no variant ${variant}` };
  const publication = await lockPublicationOf(tx, sessionId, variant);
  const repeated =
    runId === null || callId === null ? undefined : await findReleaseOfCall(tx, { runId, callId });
  const current = publication?.release
    ? await findRelease(tx, publication.id, publication.release)
    : undefined;
  const existing = repeated ?? (current && isSame(current, revision) ? current : undefined);
  const problem =
    refuseStale(request, newest) ?? (existing ? undefined : refuse(request, revision, publication));
  if (problem) return problem;
  const { baseUrl } = deps;
  if (existing) {
    const summary = await readSummary(baseUrl, tx, sessionId, variant);
    return { ok: true, isNew: false, publication: toPublication(baseUrl, existing), summary };
  }
  const release = await makeRelease(tx, session, request, revision, publication);
  const shown = toPublication(baseUrl, release);
  const { requestId, author } = request;
  const about = { requestId, runId, source: session.source };
  emit({ kind: "publication.created", ...about, variant, author, publication: shown });
  const summary = await emitVariant(baseUrl, tx, emit, { ...request, key: variant, number: revision.number });
  return { ok: true, isNew: true, publication: shown, summary };
}

/**
 * Whether a release already contains this revision. Returns false if the release is unchecked and the revision has
 * passed its check since, so that the revision can be released again.
 */
const isSame = (release: ReleaseRow, { number, check }: Revision): boolean =>
  release.revision === number && (!release.isUnchecked || !isPassed(check?.status));

type Refusal = Extract<PublishResult, { ok: false }>;

function refuseStale({ revision: wanted }: PublishRequest, newest: number): Refusal | undefined {
  if (wanted === undefined || wanted === newest) return undefined;
  const problem = `the newest revision is ${newest}; only that can be published`;
  return { ok: false, reason: "stale", problem };
}

function refuse(
  { variant, allowsUnchecked }: PublishRequest,
  { number, check }: Revision,
  publication: PublicationRow | undefined,
): Refusal | undefined {
  if ((publication?.newestRelease ?? 0) >= RELEASES_MAX)
    return {
      ok: false,
      reason: "full",
      problem: `variant ${variant} has ${RELEASES_MAX} releases; a variant may have ${RELEASES_MAX}`,
    };
  if (isPassed(check?.status) || allowsUnchecked) return undefined;
  const subject = `revision ${number} of variant ${variant}`;
  if (!check) return { ok: false, reason: "unchecked", problem: `${subject} was not checked` };
  if (hasFailure(check.findings) || listUnaccepted(check).length === 0)
    return { ok: false, reason: "failed", problem: `${subject} failed its check` };
  return { ok: false, reason: "unaccepted", problem: `${subject} has ${describeUnaccepted(check)}` };
}

async function makeRelease(
  tx: Transaction,
  { id: sessionId, ownerId }: SessionRow,
  { variant, author, runId, callId }: PublishRequest,
  { number: revision, document, check }: Revision,
  publication: PublicationRow | undefined,
): Promise<ReleaseRow> {
  const publicationId = publication?.id ?? newId("pub");
  const number = (publication?.newestRelease ?? 0) + 1;
  const isUnchecked = !isPassed(check?.status);
  const about = `Release ${number} of ${publicationId}: revision ${revision} of variant ${variant}, ${isUnchecked ? "unchecked" : "checked"}.`;
  const script = `/* ${about} */\n${variantScript(document, publicationId)}`;
  const release = {
    publicationId,
    number,
    id: newId("rel"),
    revision,
    integrity: computeIntegrity(script),
    checkStatus: check?.status ?? null,
    checkedAt: check ? new Date(check.at) : null,
    isUnchecked,
    author,
  };
  await insertRelease(
    tx,
    { id: publicationId, ownerId, sessionId, variant },
    { ...release, document, script, runId, callId },
  );
  return { ...release, withdrawnAt: null, createdAt: new Date() };
}

/** A change to a publication: the number or id of the release that becomes the current one, or `unpublish`. */
type PublicationChange = { release: number | string } | "unpublish";

type ChangeResult =
  | { ok: true; publication: Publication | null }
  | { ok: false; reason: "unknown publication" | "unknown release" };

/**
 * Makes a release of a publication the current one, or unpublishes the publication. Does nothing if the publication
 * already has the requested state.
 */
export async function changePublication(
  deps: VariantsDeps,
  publicationId: string,
  change: PublicationChange,
): Promise<ChangeResult> {
  const publication = await readPublication(deps.db, publicationId);
  if (!publication) return { ok: false, reason: "unknown publication" };
  const changed = await repeatOnDeadlock(() =>
    deps.log.transact(publication.sessionId ?? publication.id, (tx, emit) =>
      move(deps, tx, emit, publication, change),
    ),
  );
  await faultPoint("publication-moved");
  deps.publishedScripts.forget(publicationId);
  return changed;
}

async function move(
  { baseUrl }: VariantsDeps,
  tx: Transaction,
  emit: Emit,
  { id, sessionId, variant }: PublicationRow,
  change: PublicationChange,
): Promise<ChangeResult> {
  // Locks the session and the variant first, then the publication. Publishing a variant and deleting a session use the
  // same order, to avoid deadlocks.
  if (sessionId !== null) await lockVariant(tx, sessionId, variant);
  const publication = await lockPublication(tx, id);
  const target = change === "unpublish" ? null : await findRelease(tx, id, change.release);
  if (!publication || target === undefined) return { ok: false, reason: "unknown release" };
  if (publication.release !== (target?.number ?? null)) {
    if (target) await setCurrentRelease(tx, id, target.number);
    else await withdrawReleases(tx, id);
    if (publication.sessionId !== null)
      await emitVariant(baseUrl, tx, emit, {
        sessionId: publication.sessionId,
        key: variant,
        requestId: null,
        runId: null,
      });
  }
  return { ok: true, publication: target && toPublication(baseUrl, target) };
}
