import { and, desc, eq, gt, isNotNull, isNull, lt, notInArray, or } from "drizzle-orm";
import type { Database } from "#db/client.ts";
import { logins } from "#db/schema/index.ts";

export type LoginRow = typeof logins.$inferSelect;

/**
 * Time bounds of live logins. A login is live if it has not ended, was created after `createdAfter` and was last used
 * after `seenAfter`.
 */
type LiveSince = { createdAfter: Date; seenAfter: Date };

const isLive = ({ createdAfter, seenAfter }: LiveSince) =>
  and(isNull(logins.endedAt), gt(logins.createdAt, createdAfter), gt(logins.lastSeenAt, seenAfter));

/** Inserts a login. @returns the row; undefined if another login has used the same login link. */
export async function insertLogin(
  db: Database,
  row: typeof logins.$inferInsert,
): Promise<LoginRow | undefined> {
  const [written] = await db
    .insert(logins)
    .values(row)
    .onConflictDoNothing({ target: logins.linkHash })
    .returning();
  return written;
}

/** Finds the live login whose token has this hash. */
export async function findLoginRow(
  db: Database,
  tokenHash: string,
  since: LiveSince,
): Promise<LoginRow | undefined> {
  const [row] = await db
    .select()
    .from(logins)
    .where(and(eq(logins.tokenHash, tokenHash), isLive(since)));
  return row;
}

/** Lists at most `limit` live logins, the most recently used first. */
export const listLoginRows = (db: Database, since: LiveSince, limit: number): Promise<LoginRow[]> =>
  db.select().from(logins).where(isLive(since)).orderBy(desc(logins.lastSeenAt), logins.id).limit(limit);

/**
 * Deletes the logins of an API key, except the `max` live ones that were used last. A caller that has inserted a login
 * calls it afterwards: of concurrent callers, the last one sees the logins of all.
 */
export async function trimKeyLogins(
  db: Database,
  keyId: string,
  max: number,
  since: LiveSince,
): Promise<void> {
  const ofKey = eq(logins.keyId, keyId);
  const kept = db
    .select({ id: logins.id })
    .from(logins)
    .where(and(ofKey, isLive(since)))
    .orderBy(desc(logins.lastSeenAt), logins.id)
    .limit(max);
  await db.delete(logins).where(and(ofKey, notInArray(logins.id, kept)));
}

/** Records that a login was used. */
export async function touchLogin(db: Database, id: string, now: Date): Promise<void> {
  await db.update(logins).set({ lastSeenAt: now }).where(eq(logins.id, id));
}

/** Ends a login. A login that has already ended is not changed. @returns the row; undefined for an unknown login. */
export async function endLoginRow(db: Database, id: string, now: Date): Promise<LoginRow | undefined> {
  const [ended] = await db
    .update(logins)
    .set({ endedAt: now })
    .where(and(eq(logins.id, id), isNull(logins.endedAt)))
    .returning();
  if (ended) return ended;
  const [row] = await db.select().from(logins).where(eq(logins.id, id));
  return row;
}

/** Deletes logins that were ended before `endedBefore`, created before `createdAfter` or last used before `seenAfter`. */
export async function deleteOldLogins(
  db: Database,
  endedBefore: Date,
  { createdAfter, seenAfter }: LiveSince,
): Promise<void> {
  await db
    .delete(logins)
    .where(
      or(
        and(isNotNull(logins.endedAt), lt(logins.endedAt, endedBefore)),
        lt(logins.createdAt, createdAfter),
        lt(logins.lastSeenAt, seenAfter),
      ),
    );
}
