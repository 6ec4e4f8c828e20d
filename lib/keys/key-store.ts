import { createHash, timingSafeEqual } from "node:crypto";
import { and, desc, eq, gt, inArray, isNull, or } from "drizzle-orm";
import type { Database, Executor, Transaction } from "#db/client.ts";
import { apiKeys } from "#db/schema/index.ts";

/**
 * The owner and the scopes of a live key, that is, a key that is neither revoked nor expired. `expiresAt` is null if
 * the key does not expire.
 */
export type KeyHolder = {
  keyId: string;
  ownerId: string;
  scopes: readonly string[];
  expiresAt: Date | null;
};

/** Finds API keys in the database. */
export type KeyStore = {
  /**
   * Finds the holder of a key, and records at most once a minute that the key was used. Undefined if the key is
   * malformed, unknown, revoked or expired.
   * @throws when the database cannot be reached.
   */
  findHolder: (key: string) => Promise<KeyHolder | undefined>;
  /**
   * Reads the owner, the scopes and the expiry of keys by id. Leaves out keys that are unknown, revoked or expired.
   * @throws when the database cannot be reached.
   */
  readLive: (keyIds: string[]) => Promise<Map<string, Omit<KeyHolder, "keyId">>>;
};

/** The fields of a key that can change while a connection uses the key. */
export type LiveKey = Pick<KeyHolder, "scopes" | "expiresAt">;

const KEY = /^ask_([a-z0-9]{1,40})_([A-Za-z0-9_-]{20,200})$/;
const TOUCH_EVERY_MS = 60_000;

/**
 * Formats the full text of a key, which a client sends to authenticate. The database stores only the hash of the
 * secret, see {@link hashSecret}. Source: `security.md`, API keys.
 */
export const formatKey = (id: string, secret: string): string => `ask_${id}_${secret}`;

/** Returns the SHA-256 hash of a key's secret, in hex. */
export const hashSecret = (secret: string): string => createHash("sha256").update(secret).digest("hex");

/**
 * Creates the store. Keys have the form `ask_<id>_<secret>`. The store finds a key by id and compares the hash of the
 * secret in constant time. Source: `security.md`, API keys.
 */
export function createKeyStore(db: Database): KeyStore {
  return {
    async findHolder(key) {
      const [, id = "", secret = ""] = KEY.exec(key) ?? [];
      const now = new Date();
      // The query also runs for a malformed key, so that all keys get the same error while the database is unreachable.
      const [row] = await db
        .select()
        .from(apiKeys)
        .where(and(eq(apiKeys.id, id), isLive(now)));
      if (!row || !isEqual(row.secretHash, hashSecret(secret))) return undefined;
      if (now.getTime() - (row.lastUsedAt?.getTime() ?? 0) > TOUCH_EVERY_MS)
        await db.update(apiKeys).set({ lastUsedAt: now }).where(eq(apiKeys.id, row.id));
      return { keyId: row.id, ownerId: row.ownerId, scopes: row.scopes, expiresAt: row.expiresAt };
    },
    async readLive(keyIds) {
      const rows = await db
        .select({
          id: apiKeys.id,
          ownerId: apiKeys.ownerId,
          scopes: apiKeys.scopes,
          expiresAt: apiKeys.expiresAt,
        })
        .from(apiKeys)
        .where(and(inArray(apiKeys.id, keyIds), isLive(new Date())));
      return new Map(rows.map(({ id, ...key }) => [id, key]));
    },
  };
}

const isLive = (now: Date) =>
  and(isNull(apiKeys.revokedAt), or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, now)));

const isEqual = (left: string, right: string) =>
  left.length === right.length && timingSafeEqual(Buffer.from(left), Buffer.from(right));

export type ApiKeyRow = typeof apiKeys.$inferSelect;

/** Inserts a new key. @returns its row. */
export async function insertKeyRow(db: Executor, row: typeof apiKeys.$inferInsert): Promise<ApiKeyRow> {
  const [written] = await db.insert(apiKeys).values(row).returning();
  if (!written) throw new Error("the inserted key was not returned");
  return written;
}

/** Lists the keys of an owner, newest first. Without an owner, lists the keys of all owners. */
export const listKeyRows = (db: Database, ownerId?: string): Promise<ApiKeyRow[]> =>
  db
    .select()
    .from(apiKeys)
    .where(ownerId === undefined ? undefined : eq(apiKeys.ownerId, ownerId))
    .orderBy(desc(apiKeys.createdAt), apiKeys.id);

/** Finds a key by its id, also if it is revoked or expired. */
export async function findKeyRow(db: Executor, id: string): Promise<ApiKeyRow | undefined> {
  const [row] = await db.select().from(apiKeys).where(eq(apiKeys.id, id));
  return row;
}

/** Finds a key and locks its row, so that it cannot be revoked or rotated before the transaction ends. */
export async function lockKeyRow(tx: Transaction, id: string): Promise<ApiKeyRow | undefined> {
  const [row] = await tx.select().from(apiKeys).where(eq(apiKeys.id, id)).for("update");
  return row;
}

/** Revokes a key. @returns the row; undefined if the key is unknown or already revoked. */
export async function revokeKeyRow(db: Database, id: string, now: Date): Promise<ApiKeyRow | undefined> {
  const [row] = await db
    .update(apiKeys)
    .set({ revokedAt: now })
    .where(and(eq(apiKeys.id, id), isNull(apiKeys.revokedAt)))
    .returning();
  return row;
}

/** Replaces the scopes of a live key. @returns the row; undefined if the key is unknown, revoked or expired. */
export async function setKeyScopes(
  db: Database,
  id: string,
  scopes: string[],
  now: Date,
): Promise<ApiKeyRow | undefined> {
  const [row] = await db
    .update(apiKeys)
    .set({ scopes })
    .where(and(eq(apiKeys.id, id), isLive(now)))
    .returning();
  return row;
}

/** Stores which key succeeds a key. */
export async function setSuccessor(db: Executor, id: string, successorId: string): Promise<void> {
  await db.update(apiKeys).set({ successorId }).where(eq(apiKeys.id, id));
}

/**
 * Limits the expiry of a key to `until`. @returns the row; undefined if the key is unknown or already expires by then.
 */
export async function capKeyLife(db: Executor, id: string, until: Date): Promise<ApiKeyRow | undefined> {
  const [row] = await db
    .update(apiKeys)
    .set({ expiresAt: until })
    .where(and(eq(apiKeys.id, id), or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, until))))
    .returning();
  return row;
}
