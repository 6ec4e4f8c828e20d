import { and, desc, eq, gt, isNull, or } from "drizzle-orm";
import type { Database } from "#db/client.ts";
import { apiKeys } from "#db/schema/index.ts";

export type ApiKeyRow = typeof apiKeys.$inferSelect;

/** Writes a new key. */
export async function insertKeyRow(db: Database, row: typeof apiKeys.$inferInsert): Promise<ApiKeyRow> {
  const [written] = await db.insert(apiKeys).values(row).returning();
  if (!written) throw new Error("the database kept no key");
  return written;
}

/** Keys of an owner, or of all, newest first. */
export const listKeyRows = (db: Database, ownerId?: string): Promise<ApiKeyRow[]> =>
  db
    .select()
    .from(apiKeys)
    .where(ownerId === undefined ? undefined : eq(apiKeys.ownerId, ownerId))
    .orderBy(desc(apiKeys.createdAt), apiKeys.id);

/** A key by its id, live or not. */
export async function findKeyRow(db: Database, id: string): Promise<ApiKeyRow | undefined> {
  const [row] = await db.select().from(apiKeys).where(eq(apiKeys.id, id));
  return row;
}

/** Revokes a key that is not revoked yet. @returns the row, if this call did. */
export async function revokeKeyRow(db: Database, id: string, now: Date): Promise<ApiKeyRow | undefined> {
  const [row] = await db
    .update(apiKeys)
    .set({ revokedAt: now })
    .where(and(eq(apiKeys.id, id), isNull(apiKeys.revokedAt)))
    .returning();
  return row;
}

/** Lets a key end at a time, unless it ends before. @returns the row, if that changed it. */
export async function capKeyLife(db: Database, id: string, until: Date): Promise<ApiKeyRow | undefined> {
  const [row] = await db
    .update(apiKeys)
    .set({ expiresAt: until })
    .where(and(eq(apiKeys.id, id), or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, until))))
    .returning();
  return row;
}
