import { createHash, timingSafeEqual } from "node:crypto";
import { and, desc, eq, gt, inArray, isNull, or } from "drizzle-orm";
import type { Database } from "#db/client.ts";
import { apiKeys } from "#db/schema/index.ts";

/**
 * The owner and the scopes of a live key, that is, a key that is neither revoked nor expired. `expiresAt` is null if the
 * key does not expire.
 */
export type KeyHolder = {
  keyId: string;
  ownerId: string;
  scopes: readonly string[];
  expiresAt: Date | null;
};

/** Reads the API keys in the database. */
export type KeyStore = {
  /** Finds the holder of a live key. Undefined for any other text. @throws when the database cannot be reached. */
  findHolder: (key: string) => Promise<KeyHolder | undefined>;
  /**
   * Reads the scopes and the expiry of keys, by id. Leaves out keys that are not live.
   * @throws when the database cannot be reached.
   */
  readLive: (keyIds: string[]) => Promise<Map<string, LiveKey>>;
};

/** The fields of a live key that can change while connections use it. */
export type LiveKey = Pick<KeyHolder, "scopes" | "expiresAt">;

const KEY = /^ask_([a-z0-9]{1,40})_([A-Za-z0-9_-]{20,200})$/;
const TOUCH_EVERY_MS = 60_000;

/**
 * Formats the text of a key, which its owner sends. Only the {@link hashSecret} of the secret is stored. Source:
 * `security.md`, API keys.
 */
export const formatKey = (id: string, secret: string): string => `ask_${id}_${secret}`;

/** SHA-256 (hex) of a key's secret. */
export const hashSecret = (secret: string): string => createHash("sha256").update(secret).digest("hex");

/**
 * Creates the store. Keys have the form `ask_<id>_<secret>`. The store finds a key by its id and compares secrets in
 * constant time. Source: `security.md`, API keys.
 */
export function createKeyStore(db: Database): KeyStore {
  return {
    async findHolder(key) {
      const [, id = "", secret = ""] = KEY.exec(key) ?? [];
      const now = new Date();
      // The query runs for a malformed key too. Otherwise, while the database is unreachable, a malformed key would be
      // answered as wrong and any other key with an error.
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
        .select({ id: apiKeys.id, scopes: apiKeys.scopes, expiresAt: apiKeys.expiresAt })
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

/** Writes a new key. */
export async function insertKeyRow(db: Database, row: typeof apiKeys.$inferInsert): Promise<ApiKeyRow> {
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
export async function findKeyRow(db: Database, id: string): Promise<ApiKeyRow | undefined> {
  const [row] = await db.select().from(apiKeys).where(eq(apiKeys.id, id));
  return row;
}

/** Revokes a key that is not revoked yet. @returns the row; undefined if this call revoked nothing. */
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

/** Makes a key expire at `until`, unless it expires earlier. @returns the row; undefined if it was not changed. */
export async function capKeyLife(db: Database, id: string, until: Date): Promise<ApiKeyRow | undefined> {
  const [row] = await db
    .update(apiKeys)
    .set({ expiresAt: until })
    .where(and(eq(apiKeys.id, id), or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, until))))
    .returning();
  return row;
}
