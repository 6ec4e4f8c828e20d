import { changePage } from "#lib/landing/change-page.ts";
import { listSessionPages as readSessionPages } from "#lib/landing/list-session-pages.ts";
import { toLandingPage } from "#lib/publication/landing/landing-page.ts";
import { isSlug } from "#lib/publication/landing/page-address.ts";
import {
  findPage,
  listPages,
  listVersions,
  type PageRow,
  type PageWithVersion,
} from "#lib/publication/landing/page-store.ts";
import { findRootOf } from "#lib/session/store/session-tree-store.ts";
import { fail } from "../http/errors.ts";
import type { Answer, CallOf, Handlers } from "./handler.ts";
import { cutPage, readRange, unknownCursor } from "./list-handlers.ts";
import type { ApiServices } from "./services.ts";

const unknownPage = () => fail("not_found", "no such page");

/**
 * Finds a page by its slug. For a page that the caller may not see, the answer is the same as for a page that does not
 * exist.
 */
async function find(
  { db }: ApiServices,
  slug: string,
  isVisible: (page: PageRow) => boolean,
): Promise<PageWithVersion | undefined> {
  const found = isSlug(slug) ? await findPage(db, slug) : undefined;
  return found && isVisible(found.page) ? found : undefined;
}

const showOwned = ({ settings }: ApiServices, found: PageWithVersion) => ({
  ...toLandingPage(settings.pagesOrigin, found),
  sessionId: found.page.sessionId,
  createdAt: found.page.createdAt.toISOString(),
});

/** `GET /api/pages`: lists the pages of the key's owner, including pages of deleted sessions. */
async function listLandingPages(
  services: ApiServices,
  { caller, query }: CallOf<"listLandingPages">,
): Promise<Answer> {
  const range = readRange(query);
  if (!range) return unknownCursor();
  const rows = await listPages(services.db, caller.ownerId, range);
  const { page, nextCursor } = cutPage(rows, range, ({ page: { createdAt, slug } }) => ({
    createdAt,
    id: slug,
  }));
  const data = page.map((found) => showOwned(services, found));
  return { ok: true, status: 200, body: { success: true, data, nextCursor } };
}

/** `GET /api/pages/:slug`: returns a page of the key's owner. */
async function readLandingPage(
  services: ApiServices,
  { caller, params }: CallOf<"readLandingPage">,
): Promise<Answer> {
  const found = await find(services, params.slug, ({ ownerId }) => ownerId === caller.ownerId);
  if (!found) return unknownPage();
  return { ok: true, status: 200, body: { success: true, page: showOwned(services, found) } };
}

/** `GET /api/pages/:slug/versions`: lists the versions of a page of the key's owner. */
async function listPageVersions(
  services: ApiServices,
  { caller, params }: CallOf<"listPageVersions">,
): Promise<Answer> {
  const found = await find(services, params.slug, ({ ownerId }) => ownerId === caller.ownerId);
  return found ? answerVersions(services, found.page) : unknownPage();
}

/** `GET /s/:sessionId/actions/pages/:slug/versions`: lists the versions of a page of the session. */
async function listPersonPageVersions(
  services: ApiServices,
  { params }: CallOf<"listPersonPageVersions">,
): Promise<Answer> {
  const found = await find(services, params.slug, ({ sessionId }) => sessionId === params.sessionId);
  return found ? answerVersions(services, found.page) : unknownPage();
}

async function answerVersions({ db }: ApiServices, { slug, version }: PageRow): Promise<Answer> {
  const data = (await listVersions(db, slug)).map((row) => ({
    number: row.number,
    files: row.fileCount,
    bytes: row.sizeBytes,
    note: row.note,
    isCurrent: row.number === version,
    sessionId: row.deployedBy,
    createdAt: row.createdAt.toISOString(),
  }));
  return { ok: true, status: 200, body: { success: true, data, nextCursor: null } };
}

/** `POST /api/pages/:slug/rollback`: serves another version of a page of the key's owner. */
const rollbackPage = (
  services: ApiServices,
  { caller, params, body }: CallOf<"rollbackPage">,
): Promise<Answer> => change(services, params.slug, { ownerId: caller.ownerId }, body);

/** `POST /api/pages/:slug/unpublish`: unpublishes a page of the key's owner. */
const unpublishPage = (services: ApiServices, { caller, params }: CallOf<"unpublishPage">): Promise<Answer> =>
  change(services, params.slug, { ownerId: caller.ownerId }, "unpublish");

/** `POST /s/:sessionId/actions/pages/:slug/rollback`: serves another version of a page of the session. */
const rollbackPersonPage = (
  services: ApiServices,
  { params, body }: CallOf<"rollbackPersonPage">,
): Promise<Answer> => change(services, params.slug, { sessionId: params.sessionId }, body);

/** `POST /s/:sessionId/actions/pages/:slug/unpublish`: unpublishes a page of the session. */
const unpublishPersonPage = (
  services: ApiServices,
  { params }: CallOf<"unpublishPersonPage">,
): Promise<Answer> => change(services, params.slug, { sessionId: params.sessionId }, "unpublish");

async function change(
  { landing }: ApiServices,
  slug: string,
  holder: Parameters<typeof changePage>[2],
  requested: Parameters<typeof changePage>[3],
): Promise<Answer> {
  if (!isSlug(slug)) return unknownPage();
  const changed = await changePage(landing, slug, holder, requested);
  if (changed.ok) return { ok: true, status: 200, body: { success: true, page: changed.page } };
  return changed.reason === "unknown version"
    ? fail("invalid_request", "version: is not a version of this page, or was removed because it was too old")
    : unknownPage();
}

/**
 * `GET /api/sessions/:sessionId/pages`: lists the pages whose newest version the session deployed; for a sub-agent, the
 * pages of its root session.
 */
async function listSessionPages(
  { db, settings }: ApiServices,
  { params }: CallOf<"listSessionPages">,
): Promise<Answer> {
  const root = await findRootOf(db, params.sessionId);
  const data = await readSessionPages(db, root, settings.pagesOrigin);
  return { ok: true, status: 200, body: { success: true, data, nextCursor: null } };
}

export const landingPageHandlers = {
  listLandingPages,
  readLandingPage,
  listPageVersions,
  rollbackPage,
  unpublishPage,
  listSessionPages,
  listPersonPageVersions,
  rollbackPersonPage,
  unpublishPersonPage,
} satisfies Partial<Handlers>;
