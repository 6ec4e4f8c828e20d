import { and, eq, inArray, isNotNull, isNull } from "drizzle-orm";
import type { Transaction } from "#db/client.ts";
import { removeUnusedBlobs } from "#db/remove-unused-blobs.ts";
import { landingPageFiles, landingPages } from "#db/schema/index.ts";

/**
 * Removes the unpublished pages of sessions, with the contents that only they had. Published ones stay.
 *
 * @returns the slugs of those that stay, oldest first.
 */
export async function removeUnpublishedPages(tx: Transaction, sessionIds: string[]): Promise<string[]> {
  const ofThem = inArray(landingPages.sessionId, sessionIds);
  const unpublished = and(ofThem, isNull(landingPages.version));
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
  const kept = await tx
    .select({ slug: landingPages.slug })
    .from(landingPages)
    .where(and(ofThem, isNotNull(landingPages.version)))
    .orderBy(landingPages.createdAt, landingPages.slug);
  return kept.map(({ slug }) => slug);
}
