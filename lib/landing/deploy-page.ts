import { randomBytes } from "node:crypto";
import type { Executor, Transaction } from "#db/client.ts";
import { repeatOnDeadlock } from "#db/repeat-on-deadlock.ts";
import type { LandingPage } from "#lib/events/event.ts";
import type { Emit } from "#lib/events/event-log.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import { storeBlobs } from "#lib/publication/landing/blob-store.ts";
import { toLandingPage } from "#lib/publication/landing/landing-page.ts";
import { PAGE_LIMITS } from "#lib/publication/landing/page-limits.ts";
import {
  findPage,
  findSlugOfFolder,
  findVersion,
  findVersionOfCall,
  insertVersion,
  listPagesOf,
  lockPage,
  type PageRow,
  reserveSlug,
  setCurrentVersion,
} from "#lib/publication/landing/page-store.ts";
import { lockPagesOfOwner, measureUsage } from "#lib/publication/landing/page-usage-store.ts";
import { describeExcess } from "#lib/session/byte-limits.ts";
import { lockSession, type SessionRow } from "#lib/session/store/session-store.ts";
import { slugOf } from "#lib/text/slug-of.ts";
import type { LandingDeps } from "./landing-deps.ts";
import type { FolderContent } from "./read-folder.ts";

type DeployRequest = {
  /** The root session, which owns the workspace. A sub-agent deploys for its root session. */
  sessionId: string;
  /**
   * If undefined, the session's page from the same folder is updated. If there is no such page, a new page is created.
   */
  slug: string | undefined;
  note: string | null;
  content: FolderContent;
  requestId: string | null;
  runId: string | null;
  callId: string;
};

type DeployedPage = {
  ok: true;
  /**
   * `new`: this call or an earlier attempt of it stored a new version. `unchanged`: the current version already has the
   * folder's content. `restored`: the newest version has the folder's content, and was made the current one again.
   */
  outcome: "new" | "unchanged" | "restored";
  version: { number: number; fileCount: number; sizeBytes: number };
  page: LandingPage;
};
type Refusal = { ok: false; problem: string };

/**
 * Stores a folder as a new version of a page, makes that version the current one, and emits `page.deployed`, in one
 * transaction. If the current or the newest version has the same content, stores no new version, and makes that version
 * the current one. If that version is the current one already, emits nothing. If an earlier attempt of the call stored
 * a version, returns that version. Source: `architecture.md`, Landing pages.
 */
export async function deployPage(deps: LandingDeps, request: DeployRequest): Promise<DeployedPage | Refusal> {
  const deployed = await repeatOnDeadlock(() =>
    deps.log.transact(request.sessionId, (tx, emit) => deploy(deps, tx, emit, request)),
  );
  await faultPoint("page-deployed");
  if (deployed.ok) deps.servedPages.forget(deployed.page.slug);
  return deployed;
}

/** Finds the version that an earlier attempt of the same call stored. Returns undefined if there is no such version. */
export async function findDeployed(
  { db, pagesOrigin }: { db: Executor; pagesOrigin: string },
  call: { runId: string | null; callId: string },
): Promise<DeployedPage | undefined> {
  const { runId, callId } = call;
  const version = runId === null ? undefined : await findVersionOfCall(db, { runId, callId });
  if (!version) return undefined;
  return { ok: true, outcome: "new", version, page: await readPage(db, pagesOrigin, version.slug) };
}

async function deploy(
  deps: LandingDeps,
  tx: Transaction,
  emit: Emit,
  request: DeployRequest,
): Promise<DeployedPage | Refusal> {
  const { sessionId, content, note, requestId, runId, callId } = request;
  // First locks the session, then its pages. Deleting a session uses the same order, to avoid deadlocks.
  const session = await lockSession(tx, sessionId);
  if (!session) return { ok: false, problem: "the session was deleted" };
  const repeated = await findDeployed({ db: tx, pagesOrigin: deps.pagesOrigin }, request);
  if (repeated) return repeated;
  await lockPagesOfOwner(tx, session.ownerId);
  const place = await choosePlace(tx, session, request);
  if ("problem" in place) return place;
  const { slug, page } = place;
  const { folder, digest, files, sizeBytes } = content;
  const same = page && (await findSame(tx, page, digest));
  const outcome = same === undefined ? "new" : same === page?.version ? "unchanged" : "restored";
  const number = same ?? (page?.newestVersion ?? 0) + 1;
  if (same !== undefined) await setCurrentVersion(tx, slug, same, { sessionId, folder });
  else {
    const refused =
      (await refuseBytes(deps, tx, session, slug, content)) ?? (await claimSlug(tx, session, slug, folder));
    if (refused) return refused;
    await storeBlobs(tx, content.contents);
    await faultPoint("page-files-stored");
    const version = { number, digest, fileCount: files.length, sizeBytes, note, runId, callId };
    await insertVersion(tx, { slug, sessionId, folder }, { ...version, deployedBy: sessionId }, files);
  }
  const shown = await readPage(tx, deps.pagesOrigin, slug);
  const about = { requestId, runId, source: session.source };
  if (outcome !== "unchanged") emit({ kind: "page.deployed", ...about, page: shown });
  return { ok: true, outcome, version: { number, fileCount: files.length, sizeBytes }, page: shown };
}

/** Returns a refusal if the new version would exceed the limit for the bytes of the session or of the owner. */
async function refuseBytes(
  { pageBytes }: LandingDeps,
  tx: Transaction,
  session: SessionRow,
  slug: string,
  { files }: FolderContent,
): Promise<Refusal | undefined> {
  const usage = await measureUsage(tx, { slug, ownerId: session.ownerId, sessionId: session.id }, files);
  const problem = describeExcess("with these files the landing pages", "PAGES", usage, pageBytes);
  return problem === undefined ? undefined : { ok: false, problem };
}

/** Creates a page with this slug if there is none. Returns a refusal if the slug belongs to another owner. */
async function claimSlug(
  tx: Transaction,
  { id: sessionId, ownerId }: SessionRow,
  slug: string,
  folder: string,
): Promise<Refusal | undefined> {
  return refuseOwner(await reserveSlug(tx, { slug, ownerId, sessionId, folder }), ownerId);
}

/**
 * Looks for the content with this digest in the current and the newest version, and returns the number of the version
 * that has it. Returns undefined if neither version has it.
 */
async function findSame(
  tx: Transaction,
  { slug, version, newestVersion }: PageRow,
  digest: string,
): Promise<number | undefined> {
  for (const number of [version, newestVersion]) {
    const found = number === null ? undefined : await findVersion(tx, slug, number);
    if (found?.digest === digest) return found.number;
  }
  return undefined;
}

/** The slug that a deploy uses, and the locked page with this slug. `page` is undefined if no page has the slug yet. */
type Place = { slug: string; page: PageRow | undefined };

/**
 * Chooses the slug for a deploy. Returns a refusal if the page belongs to another owner, or if the deploy would create
 * a page and the session already has the maximum number of pages.
 */
async function choosePlace(
  tx: Transaction,
  { id: sessionId, ownerId }: SessionRow,
  { slug: wanted, content: { folder } }: DeployRequest,
): Promise<Place | Refusal> {
  const slug = wanted ?? (await findSlugOfFolder(tx, sessionId, folder));
  const page = slug === undefined ? undefined : await lockPage(tx, slug);
  if (page) return refuseOwner(page, ownerId) ?? { slug: page.slug, page };
  const count = (await listPagesOf(tx, sessionId)).length;
  if (count >= PAGE_LIMITS.pagesOfSession)
    return {
      ok: false,
      problem: `the session has ${count} pages; a session may have ${PAGE_LIMITS.pagesOfSession}. Update one of them by its slug`,
    };
  return { slug: slug ?? makeSlug(folder), page };
}

const refuseOwner = (page: PageRow, ownerId: string): Refusal | undefined =>
  page.ownerId === ownerId
    ? undefined
    : { ok: false, problem: `slug: ${page.slug} is taken; choose another one, or leave it out` };

const NAME_CHARACTERS_MAX = 40;

/**
 * Makes a slug from a folder's name and a random suffix. The suffix makes the slug unguessable and avoids collisions.
 */
function makeSlug(folder: string): string {
  const name = slugOf(folder.slice(folder.lastIndexOf("/") + 1), NAME_CHARACTERS_MAX);
  return `${name || "page"}-${randomBytes(5).toString("hex")}`;
}

/**
 * Reads a page in the shape in which the API shows it.
 *
 * @throws Error if no page has this slug.
 */
export async function readPage(db: Executor, pagesOrigin: string, slug: string): Promise<LandingPage> {
  const found = await findPage(db, slug);
  if (!found) throw new Error(`the page ${slug} is gone`);
  return toLandingPage(pagesOrigin, found);
}
