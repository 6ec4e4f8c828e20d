import type { Transaction } from "#db/client.ts";
import { repeatOnDeadlock } from "#db/repeat-on-deadlock.ts";
import type { LandingPage } from "#lib/events/event.ts";
import type { Emit } from "#lib/events/event-log.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import { findPage, findVersion, lockPage, setCurrentVersion } from "#lib/publication/landing/page-store.ts";
import { lockSession } from "#lib/session/session-store.ts";
import { readPage } from "./deploy-page.ts";
import type { LandingDeps } from "./landing-deps.ts";

/** A change of a page: making a stored version the current one, or unpublishing the page. */
type PageChange = { version: number } | "unpublish";

type ChangeResult =
  | { ok: true; page: LandingPage }
  | { ok: false; reason: "unknown page" | "unknown version" };

/** The owner or the session that the page must belong to. For any other, the page counts as unknown. */
type Holder = { ownerId: string } | { sessionId: string };

/**
 * Makes an earlier or later version of a page the current one, or unpublishes the page, and emits `page.updated`.
 * Idempotent.
 */
export async function changePage(
  deps: LandingDeps,
  slug: string,
  holder: Holder,
  change: PageChange,
): Promise<ChangeResult> {
  const found = await findPage(deps.db, slug);
  if (!found) return { ok: false, reason: "unknown page" };
  const { sessionId } = found.page;
  const changed = await repeatOnDeadlock(() =>
    deps.log.transact(sessionId ?? slug, (tx, emit) =>
      move(deps, tx, emit, { slug, sessionId, holder, change }),
    ),
  );
  await faultPoint("page-moved");
  deps.servedPages.forget(slug);
  return changed;
}

async function move(
  { pagesOrigin }: LandingDeps,
  tx: Transaction,
  emit: Emit,
  {
    slug,
    sessionId,
    holder,
    change,
  }: { slug: string; sessionId: string | null; holder: Holder; change: PageChange },
): Promise<ChangeResult> {
  // The same lock order as in deploying a page and in deleting a session, to avoid deadlocks.
  const session = sessionId === null ? undefined : await lockSession(tx, sessionId);
  const page = await lockPage(tx, slug);
  const isHeld =
    page && ("ownerId" in holder ? page.ownerId === holder.ownerId : page.sessionId === holder.sessionId);
  if (!page || !isHeld) return { ok: false, reason: "unknown page" };
  const wanted = change === "unpublish" ? null : change.version;
  if (wanted !== null && !(await findVersion(tx, slug, wanted)))
    return { ok: false, reason: "unknown version" };
  if (page.version === wanted) return { ok: true, page: await readPage(tx, pagesOrigin, slug) };
  await setCurrentVersion(tx, slug, wanted);
  const shown = await readPage(tx, pagesOrigin, slug);
  // If another session has deployed the page since it was read, the page no longer belongs to this session. The event must
  // then not go to this session's log.
  if (session && page.sessionId === session.id)
    emit({ kind: "page.updated", requestId: null, runId: null, source: session.source, page: shown });
  return { ok: true, page: shown };
}
