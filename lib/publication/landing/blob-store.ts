import { eq, inArray, sql } from "drizzle-orm";
import type { Executor, Transaction } from "#db/client.ts";
import { landingPageBlobs } from "#db/schema/index.ts";

/**
 * Stores contents by their hashes. Contents that are stored already are locked instead. Otherwise another transaction could
 * remove them before this transaction refers to them.
 */
export async function storeBlobs(tx: Transaction, contents: ReadonlyMap<string, Uint8Array>): Promise<void> {
  // All transactions lock in the same order, to avoid deadlocks.
  const hashes = [...contents.keys()].sort();
  const stored = await tx
    .select({ hash: landingPageBlobs.hash })
    .from(landingPageBlobs)
    .where(inArray(landingPageBlobs.hash, hashes))
    .orderBy(landingPageBlobs.hash)
    .for("key share");
  const existing = new Set(stored.map(({ hash }) => hash));
  for (const hash of hashes) {
    const content = contents.get(hash);
    if (existing.has(hash) || !content) continue;
    // If another transaction has just stored the same content, this update changes nothing, but it locks that row.
    await tx
      .insert(landingPageBlobs)
      .values({ hash, content })
      .onConflictDoUpdate({ target: landingPageBlobs.hash, set: { hash: sql`excluded.hash` } });
  }
}

/** Reads the content with this hash; undefined if it was removed because no version uses it any more. */
export async function readBlob(db: Executor, hash: string): Promise<Uint8Array | undefined> {
  const [row] = await db
    .select({ content: landingPageBlobs.content })
    .from(landingPageBlobs)
    .where(eq(landingPageBlobs.hash, hash));
  return row?.content;
}
