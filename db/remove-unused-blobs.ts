import { and, eq, inArray, notExists } from "drizzle-orm";
import type { Transaction } from "./client.ts";
import { landingPageBlobs, landingPageFiles } from "./schema/index.ts";

/**
 * Removes those of these contents that no version has. It locks each first: so it waits for a transaction that is about to
 * refer to one, and of several removals at the same time the last one sees that nothing refers to it any more.
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
  // A statement of its own, which sees what was committed before the lock was granted.
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
