import { and, desc, eq, inArray, isNotNull, lt, or, sql } from "drizzle-orm";
import type { Executor, Transaction } from "#db/client.ts";
import { publications, releases } from "#db/schema/index.ts";
import type { CheckStatus, VariantAuthor } from "#db/schema/unions.ts";
import { storable } from "#db/storable.ts";

/** A row of the table of publications. */
export type PublicationRow = typeof publications.$inferSelect;

/** A release without its document and its script, which are large. */
export type ReleaseRow = {
  publicationId: string;
  number: number;
  id: string;
  revision: number;
  integrity: string;
  checkStatus: CheckStatus | null;
  checkedAt: Date | null;
  isUnchecked: boolean;
  author: VariantAuthor;
  withdrawnAt: Date | null;
  createdAt: Date;
};

/** The columns of a release, without the document and the script. */
export const releaseColumns = {
  publicationId: releases.publicationId,
  number: releases.number,
  id: releases.id,
  revision: releases.revision,
  integrity: releases.integrity,
  checkStatus: releases.checkStatus,
  checkedAt: releases.checkedAt,
  isUnchecked: releases.isUnchecked,
  author: releases.author,
  withdrawnAt: releases.withdrawnAt,
  createdAt: releases.createdAt,
};

/**
 * Locks the publication of a session's variant until the transaction ends. Returns undefined if there is no such
 * publication.
 */
export async function lockPublicationOf(
  tx: Transaction,
  sessionId: string,
  variant: string,
): Promise<PublicationRow | undefined> {
  const [row] = await tx
    .select()
    .from(publications)
    .where(and(eq(publications.sessionId, sessionId), eq(publications.variant, variant)))
    .for("update");
  return row;
}

/** Finds the publication of a session's variant. Returns undefined if there is no such publication. */
export async function findPublicationOf(
  db: Executor,
  sessionId: string,
  variant: string,
): Promise<PublicationRow | undefined> {
  const [row] = await db
    .select()
    .from(publications)
    .where(and(eq(publications.sessionId, sessionId), eq(publications.variant, variant)));
  return row;
}

/** Finds a publication by its id. Returns undefined if there is no such publication. */
export async function readPublication(
  db: Executor,
  publicationId: string,
): Promise<PublicationRow | undefined> {
  const [row] = await db.select().from(publications).where(eq(publications.id, publicationId));
  return row;
}

/** Locks the publication with this id until the transaction ends. Returns undefined if there is no such publication. */
export async function lockPublication(
  tx: Transaction,
  publicationId: string,
): Promise<PublicationRow | undefined> {
  const [row] = await tx.select().from(publications).where(eq(publications.id, publicationId)).for("update");
  return row;
}

/** A publication and its current release. `release` is null while the publication is unpublished. */
type PublicationWithRelease = { publication: PublicationRow; release: ReleaseRow | null };

const joinCurrentRelease = (db: Executor) =>
  db
    .select({ publication: publications, release: releaseColumns })
    .from(publications)
    .leftJoin(
      releases,
      and(eq(releases.publicationId, publications.id), eq(releases.number, publications.release)),
    );

/** Lists the ids of all publications of a session's variants, including unpublished ones. */
export async function listPublicationIds(db: Executor, sessionId: string): Promise<string[]> {
  const rows = await db
    .select({ id: publications.id })
    .from(publications)
    .where(eq(publications.sessionId, sessionId));
  return rows.map(({ id }) => id);
}

/** Lists an owner's publications, newest first. `before` is the last publication of the previous result. */
export const listPublications = (
  db: Executor,
  ownerId: string,
  { before, limit }: { before?: { createdAt: Date; id: string }; limit: number },
): Promise<PublicationWithRelease[]> =>
  joinCurrentRelease(db)
    .where(
      and(
        eq(publications.ownerId, ownerId),
        before &&
          or(
            lt(publications.createdAt, before.createdAt),
            and(eq(publications.createdAt, before.createdAt), lt(publications.id, before.id)),
          ),
      ),
    )
    .orderBy(desc(publications.createdAt), desc(publications.id))
    .limit(limit);

/** Lists the releases of a publication, newest first. */
export const listReleases = (db: Executor, publicationId: string): Promise<ReleaseRow[]> =>
  db
    .select(releaseColumns)
    .from(releases)
    .where(eq(releases.publicationId, publicationId))
    .orderBy(desc(releases.number));

/** Finds a release by its number or its id. Returns undefined if the publication has no such release. */
export async function findRelease(
  db: Executor,
  publicationId: string,
  release: number | string,
): Promise<ReleaseRow | undefined> {
  const isRelease = typeof release === "number" ? eq(releases.number, release) : eq(releases.id, release);
  const [row] = await db
    .select(releaseColumns)
    .from(releases)
    .where(and(eq(releases.publicationId, publicationId), isRelease));
  return row;
}

/** Finds the release that a call created. Returns undefined if there is no such release. */
export async function findReleaseOfCall(
  db: Executor,
  { runId, callId }: { runId: string; callId: string },
): Promise<ReleaseRow | undefined> {
  const [row] = await db
    .select(releaseColumns)
    .from(releases)
    .where(and(eq(releases.runId, runId), eq(releases.callId, callId)));
  return row;
}

type NewPublication = Pick<PublicationRow, "id" | "ownerId" | "sessionId" | "variant">;
type NewRelease = Omit<ReleaseRow, "withdrawnAt" | "createdAt"> & {
  document: unknown;
  script: string;
  runId: string | null;
  callId: string | null;
};

/** Stores a release and makes it the current one. The caller has locked the session's row. */
export async function insertRelease(
  tx: Transaction,
  publication: NewPublication,
  release: NewRelease,
): Promise<void> {
  const current = { release: release.number, newestRelease: release.number };
  await tx
    .insert(publications)
    .values({ ...publication, ...current })
    .onConflictDoUpdate({ target: publications.id, set: { ...current, updatedAt: sql`now()` } });
  await tx.insert(releases).values({ ...release, document: storable(release.document) });
}

/** Makes a release the current one. A withdrawn release is published again. */
export async function setCurrentRelease(
  tx: Transaction,
  publicationId: string,
  release: number,
): Promise<void> {
  await tx
    .update(publications)
    .set({ release, updatedAt: sql`now()` })
    .where(eq(publications.id, publicationId));
  await tx
    .update(releases)
    .set({ withdrawnAt: null })
    .where(and(eq(releases.publicationId, publicationId), eq(releases.number, release)));
}

/** Unpublishes a publication: removes its current release, and withdraws all of its releases. */
export async function withdrawReleases(tx: Transaction, publicationId: string): Promise<void> {
  await tx
    .update(publications)
    .set({ release: null, updatedAt: sql`now()` })
    .where(eq(publications.id, publicationId));
  await tx.update(releases).set({ withdrawnAt: sql`now()` }).where(eq(releases.publicationId, publicationId));
}

/** The release that is served at the URL of a script. `release` is null if the publication has no current release. */
export type ServedRelease = {
  publicationId: string;
  isPublished: boolean;
  release: number | null;
  integrity: string | null;
};

/**
 * Finds the release with the number `release`, or the current release if `release` is undefined. Returns undefined if
 * there is no such publication or release. `isPublished` is false for a withdrawn release and for an unpublished
 * publication.
 */
export async function findServed(
  db: Executor,
  publicationId: string,
  release: number | undefined,
): Promise<ServedRelease | undefined> {
  const [row] = await db
    .select({ release: releases.number, integrity: releases.integrity, withdrawnAt: releases.withdrawnAt })
    .from(publications)
    .leftJoin(
      releases,
      and(
        eq(releases.publicationId, publications.id),
        eq(releases.number, release === undefined ? publications.release : release),
      ),
    )
    .where(eq(publications.id, publicationId));
  if (!row || (release !== undefined && row.release === null)) return undefined;
  return { ...row, publicationId, isPublished: row.release !== null && row.withdrawnAt === null };
}

/**
 * Maximum number of publications that `findNewestFor` searches. It searches only publications that have a current
 * release, beginning with the most recently updated one.
 */
const DEMO_CANDIDATES = 100;

/**
 * Finds the most recently updated publication whose current release has a page with one of these URL prefixes, and
 * returns the id of the publication. Returns undefined if none of the `DEMO_CANDIDATES` searched publications has such
 * a page.
 */
export async function findNewestFor(db: Executor, prefixes: string[]): Promise<string | undefined> {
  const newest = db
    .select({ id: publications.id })
    .from(publications)
    .where(isNotNull(publications.release))
    .orderBy(desc(publications.updatedAt))
    .limit(DEMO_CANDIDATES);
  const isPrefix = sql.join(
    prefixes.map((prefix) => sql`starts_with(page ->> 'url', ${prefix})`),
    sql` or `,
  );
  const [row] = await db
    .select({ id: publications.id })
    .from(publications)
    .innerJoin(
      releases,
      and(eq(releases.publicationId, publications.id), eq(releases.number, publications.release)),
    )
    .where(
      and(
        inArray(publications.id, newest),
        sql`exists (select 1 from json_array_elements(${releases.document} -> 'pages') as page where ${isPrefix})`,
      ),
    )
    .orderBy(desc(publications.updatedAt))
    .limit(1);
  return row?.id;
}

/** Reads the script of a release. Returns undefined if there is no such release. */
export async function readScript(
  db: Executor,
  publicationId: string,
  release: number,
): Promise<string | undefined> {
  const [row] = await db
    .select({ script: releases.script })
    .from(releases)
    .where(and(eq(releases.publicationId, publicationId), eq(releases.number, release)));
  return row?.script;
}
