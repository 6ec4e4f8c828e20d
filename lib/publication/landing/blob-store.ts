import { eq, inArray, sql } from "drizzle-orm";
import type { Executor, Transaction } from "#db/client.ts";
import { landingPageBlobs } from "#db/schema/index.ts";

/**
 * Stores contents under their hashes. If a content is already stored, its row is locked instead. The lock keeps other
 * transactions from removing the content before this transaction commits.
 */
export async function storeBlobs(tx: Transaction, contents: ReadonlyMap<string, Uint8Array>): Promise<void> {
  // All transactions lock the rows in this order, to avoid deadlocks.
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
    // If another transaction has stored the same content in the meantime, the insert becomes an update. The update
    // changes nothing, but locks the existing row.
    await tx
      .insert(landingPageBlobs)
      .values({ hash, content })
      .onConflictDoUpdate({ target: landingPageBlobs.hash, set: { hash: sql`excluded.hash` } });
  }
}

/** Reads the content with this hash. Returns undefined if no version uses the content any more and it was removed. */
export async function readBlob(db: Executor, hash: string): Promise<Uint8Array | undefined> {
  const [row] = await db
    .select({ content: landingPageBlobs.content })
    .from(landingPageBlobs)
    .where(eq(landingPageBlobs.hash, hash));
  return row?.content;
}
