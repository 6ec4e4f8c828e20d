import { and, desc, eq, inArray, lt, ne, or, type SQL, sql } from "drizzle-orm";
import type { Executor, Transaction } from "#db/client.ts";
import { removeUnusedBlobs } from "#db/remove-unused-blobs.ts";
import { landingPageFiles, landingPages, landingPageVersions } from "#db/schema/index.ts";
import { PAGE_LIMITS } from "./page-limits.ts";

/** A row of the table of landing pages. */
export type PageRow = typeof landingPages.$inferSelect;
type VersionRow = typeof landingPageVersions.$inferSelect;
/** A file of a version. Its content is stored separately, by its hash. */
export type PageFile = Pick<
  typeof landingPageFiles.$inferSelect,
  "path" | "hash" | "sizeBytes" | "mediaType"
>;
/** A page and its current version. `version` is null while the page is unpublished. */
export type PageWithVersion = { page: PageRow; version: VersionRow | null };

const joinCurrentVersion = (db: Executor) =>
  db
    .select({ page: landingPages, version: landingPageVersions })
    .from(landingPages)
    .leftJoin(
      landingPageVersions,
      and(
        eq(landingPageVersions.slug, landingPages.slug),
        eq(landingPageVersions.number, landingPages.version),
      ),
    );

/** Finds the page with this slug. Returns undefined if there is no such page. */
export async function findPage(db: Executor, slug: string): Promise<PageWithVersion | undefined> {
  const [row] = await joinCurrentVersion(db).where(eq(landingPages.slug, slug));
  return row;
}

/** Lists the pages that this session was the last to deploy, oldest page first. */
export const listPagesOf = (db: Executor, sessionId: string): Promise<PageWithVersion[]> =>
  joinCurrentVersion(db)
    .where(eq(landingPages.sessionId, sessionId))
    .orderBy(landingPages.createdAt, landingPages.slug);

/**
 * Lists an owner's pages, newest first. `before` describes the last page of the previous result; `before.id` is the
 * slug of that page.
 */
export const listPages = (
  db: Executor,
  ownerId: string,
  { before, limit }: { before?: { createdAt: Date; id: string }; limit: number },
): Promise<PageWithVersion[]> =>
  joinCurrentVersion(db)
    .where(
      and(
        eq(landingPages.ownerId, ownerId),
        before &&
          or(
            lt(landingPages.createdAt, before.createdAt),
            and(eq(landingPages.createdAt, before.createdAt), lt(landingPages.slug, before.id)),
          ),
      ),
    )
    .orderBy(desc(landingPages.createdAt), desc(landingPages.slug))
    .limit(limit);

/**
 * Finds the slug of a page whose last deploy came from this session and this folder. If there are several such pages,
 * chooses the most recently updated one. Returns undefined if there is no such page.
 */
export async function findSlugOfFolder(
  db: Executor,
  sessionId: string,
  folder: string,
): Promise<string | undefined> {
  const [row] = await db
    .select({ slug: landingPages.slug })
    .from(landingPages)
    .where(and(eq(landingPages.sessionId, sessionId), eq(landingPages.folder, folder)))
    .orderBy(desc(landingPages.updatedAt))
    .limit(1);
  return row?.slug;
}

/** Locks the page with this slug until the transaction ends. Returns undefined if there is no such page. */
export async function lockPage(tx: Transaction, slug: string): Promise<PageRow | undefined> {
  const [row] = await tx.select().from(landingPages).where(eq(landingPages.slug, slug)).for("update");
  return row;
}

/**
 * Locks and returns the page with this slug. If there is no such page, first creates one without versions. The page may
 * belong to another owner.
 */
export async function reserveSlug(
  tx: Transaction,
  page: Pick<PageRow, "slug" | "ownerId" | "sessionId" | "folder">,
): Promise<PageRow> {
  await tx
    .insert(landingPages)
    .values({ ...page, version: null, newestVersion: 0 })
    .onConflictDoNothing();
  const row = await lockPage(tx, page.slug);
  if (!row) throw new Error(`the page ${page.slug} was removed while its slug was taken`);
  return row;
}

/** Finds a version of a page by its number. Returns undefined if the version was never stored or was removed. */
export const findVersion = (db: Executor, slug: string, number: number) =>
  findOneVersion(
    db,
    and(eq(landingPageVersions.slug, slug), eq(landingPageVersions.number, number)) ?? sql`false`,
  );

/** Finds the version that a call stored. Returns undefined if there is no such version. */
export const findVersionOfCall = (db: Executor, { runId, callId }: { runId: string; callId: string }) =>
  findOneVersion(
    db,
    and(eq(landingPageVersions.runId, runId), eq(landingPageVersions.callId, callId)) ?? sql`false`,
  );

async function findOneVersion(db: Executor, where: SQL): Promise<VersionRow | undefined> {
  const [row] = await db.select().from(landingPageVersions).where(where);
  return row;
}

/** Lists the stored versions of a page, newest first. */
export const listVersions = (db: Executor, slug: string): Promise<VersionRow[]> =>
  db
    .select()
    .from(landingPageVersions)
    .where(eq(landingPageVersions.slug, slug))
    .orderBy(desc(landingPageVersions.number));

/** Lists the files of a version. */
export const listFiles = (db: Executor, slug: string, number: number): Promise<PageFile[]> =>
  db
    .select({
      path: landingPageFiles.path,
      hash: landingPageFiles.hash,
      sizeBytes: landingPageFiles.sizeBytes,
      mediaType: landingPageFiles.mediaType,
    })
    .from(landingPageFiles)
    .where(and(eq(landingPageFiles.slug, slug), eq(landingPageFiles.number, number)));

/**
 * Stores a version and makes it the current one. Removes the oldest versions beyond the limit. The caller has locked
 * the page and stored the contents of the files.
 */
export async function insertVersion(
  tx: Transaction,
  { slug, sessionId, folder }: Pick<PageRow, "slug" | "sessionId" | "folder">,
  version: Omit<typeof landingPageVersions.$inferInsert, "slug" | "createdAt">,
  files: readonly PageFile[],
): Promise<void> {
  const { number } = version;
  await tx.insert(landingPageVersions).values({ ...version, slug });
  await tx.insert(landingPageFiles).values(files.map((file) => ({ ...file, slug, number })));
  await tx
    .update(landingPages)
    .set({ sessionId, folder, version: number, newestVersion: number, updatedAt: sql`clock_timestamp()` })
    .where(eq(landingPages.slug, slug));
  await pruneVersions(tx, slug, number);
}

/**
 * Removes the oldest versions beyond the limit, but not the current one. Also removes the contents that no version uses
 * any more.
 */
async function pruneVersions(tx: Transaction, slug: string, current: number): Promise<void> {
  const beyond = await tx
    .select({ number: landingPageVersions.number })
    .from(landingPageVersions)
    .where(and(eq(landingPageVersions.slug, slug), ne(landingPageVersions.number, current)))
    .orderBy(desc(landingPageVersions.number))
    .offset(PAGE_LIMITS.versions - 1);
  if (beyond.length === 0) return;
  const numbers = beyond.map(({ number }) => number);
  const ofThem = and(eq(landingPageFiles.slug, slug), inArray(landingPageFiles.number, numbers));
  const hashes = await tx
    .selectDistinct({ hash: landingPageFiles.hash })
    .from(landingPageFiles)
    .where(ofThem);
  await tx
    .delete(landingPageVersions)
    .where(and(eq(landingPageVersions.slug, slug), inArray(landingPageVersions.number, numbers)));
  await removeUnusedBlobs(
    tx,
    hashes.map(({ hash }) => hash),
  );
}

/**
 * Makes a version the current one, or unpublishes the page if `version` is null. If `deployedFrom` is given, its
 * session and folder become those of the page.
 */
export async function setCurrentVersion(
  tx: Transaction,
  slug: string,
  version: number | null,
  deployedFrom?: Pick<PageRow, "sessionId" | "folder">,
): Promise<void> {
  await tx
    .update(landingPages)
    .set({ version, updatedAt: sql`clock_timestamp()`, ...deployedFrom })
    .where(eq(landingPages.slug, slug));
}

/**
 * Reads the number of a page's current version. `version` is null while the page is unpublished. `pageCreatedAt`
 * distinguishes the page from a removed one with the same slug. Returns undefined if there is no such page.
 */
export async function findServedVersion(
  db: Executor,
  slug: string,
): Promise<{ version: number | null; pageCreatedAt: Date } | undefined> {
  const [row] = await db
    .select({ version: landingPages.version, pageCreatedAt: landingPages.createdAt })
    .from(landingPages)
    .where(eq(landingPages.slug, slug));
  return row;
}
