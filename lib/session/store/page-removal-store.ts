import { and, eq, inArray, isNotNull, isNull } from "drizzle-orm";
import type { Transaction } from "#db/client.ts";
import { removeUnusedBlobs } from "#db/remove-unused-blobs.ts";
import { landingPageFiles, landingPages } from "#db/schema/index.ts";

/**
 * Removes the unpublished pages of sessions, and the file contents that no other page uses. Published pages remain.
 *
 * @returns the slugs of the published pages, oldest first.
 */
export async function removeUnpublishedPages(tx: Transaction, sessionIds: string[]): Promise<string[]> {
  const ofSessions = inArray(landingPages.sessionId, sessionIds);
  const unpublished = and(ofSessions, isNull(landingPages.version));
  const hashes = await tx
    .selectDistinct({ hash: landingPageFiles.hash })
    .from(landingPageFiles)
    .innerJoin(landingPages, eq(landingPages.slug, landingPageFiles.slug))
    .where(unpublished);
  await tx.delete(landingPages).where(unpublished);
  await removeUnusedBlobs(
    tx,
    hashes.map(({ hash }) => hash),
  );
  const published = await tx
    .select({ slug: landingPages.slug })
    .from(landingPages)
    .where(and(ofSessions, isNotNull(landingPages.version)))
    .orderBy(landingPages.createdAt, landingPages.slug);
  return published.map(({ slug }) => slug);
}
