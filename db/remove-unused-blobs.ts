import { and, eq, inArray, notExists } from "drizzle-orm";
import type { Transaction } from "./client.ts";
import { landingPageBlobs, landingPageFiles } from "./schema/index.ts";

/**
 * Deletes those of the given blobs to which no version of a landing page refers. The function locks the rows of the
 * blobs first, and so waits for a transaction that is adding a reference. Of several removals at the same time, the
 * last one sees that no reference is left, and deletes the blob.
 */
export async function removeUnusedBlobs(tx: Transaction, hashes: readonly string[]): Promise<void> {
  if (hashes.length === 0) return;
  const locked = await tx
    .select({ hash: landingPageBlobs.hash })
    .from(landingPageBlobs)
    .where(inArray(landingPageBlobs.hash, [...hashes]))
    .orderBy(landingPageBlobs.hash)
    .for("update");
  if (locked.length === 0) return;
  // This is a separate statement, so that it sees everything that was committed before the locks were granted.
  await tx.delete(landingPageBlobs).where(
    and(
      inArray(
        landingPageBlobs.hash,
        locked.map(({ hash }) => hash),
      ),
      notExists(
        tx
          .select({ hash: landingPageFiles.hash })
          .from(landingPageFiles)
          .where(eq(landingPageFiles.hash, landingPageBlobs.hash)),
      ),
    ),
  );
}
