import type { Transaction } from "#db/client.ts";
import { repeatOnDeadlock } from "#db/repeat-on-deadlock.ts";
import type { LandingPage } from "#lib/events/event.ts";
import type { Emit } from "#lib/events/event-log.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import { findPage, findVersion, lockPage, setCurrentVersion } from "#lib/publication/landing/page-store.ts";
import { lockSession } from "#lib/session/store/session-store.ts";
import { readPage } from "./deploy-page.ts";
import type { LandingDeps } from "./landing-deps.ts";

/** A change to a page: the number of the version that becomes the current one, or `unpublish`. */
type PageChange = { version: number } | "unpublish";

type ChangeResult =
  | { ok: true; page: LandingPage }
  | { ok: false; reason: "unknown page" | "unknown version" };

/** The owner or session to which the page must belong. A page of another owner or session is treated as unknown. */
type Holder = { ownerId: string } | { sessionId: string };

/**
 * Makes a stored version of a page the current one, or unpublishes the page, and emits `page.updated` to the log of the
 * page's session. Emits nothing if that session was deleted, or if another session deploys the page in the meantime.
 * If the page already has the requested state, nothing is changed or emitted.
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
  // First locks the session, then the page. Deploying a page and deleting a session use the same order, to avoid
  // deadlocks.
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
  // If another session deployed the page after `changePage` read it, the page belongs to that session now. The event
  // must then not go to the log of `session`.
  if (session && page.sessionId === session.id)
    emit({ kind: "page.updated", requestId: null, runId: null, source: session.source, page: shown });
  return { ok: true, page: shown };
}
