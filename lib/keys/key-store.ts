import { createHash, timingSafeEqual } from "node:crypto";
import { and, desc, eq, gt, inArray, isNull, or } from "drizzle-orm";
import type { Database } from "#db/client.ts";
import { apiKeys } from "#db/schema/index.ts";

/** Who holds a live key, and what it may do. */
export type KeyHolder = {
  keyId: string;
  ownerId: string;
  scopes: readonly string[];
  expiresAt: Date | null;
};

/** Keys kept in the database. */
export type KeyStore = {
  /** The holder of a live key; undefined for any other. @throws when the database cannot be reached. */
  findHolder: (key: string) => Promise<KeyHolder | undefined>;
  /** The expiry and scopes of these keys; a key that is not live is missing. @throws when the database cannot be reached. */
  readLive: (keyIds: string[]) => Promise<Map<string, LiveKey>>;
};

/** A live key; `expiresAt` is null if it does not expire. */
export type LiveKey = Pick<KeyHolder, "scopes" | "expiresAt">;

const KEY = /^ask_([a-z0-9]{1,40})_([A-Za-z0-9_-]{20,200})$/;
const TOUCH_EVERY_MS = 60_000;

/** The text of a key; only {@link hashSecret} of its secret is kept. Source: `security.md`, API keys. */
export const formatKey = (id: string, secret: string): string => `ask_${id}_${secret}`;

/** SHA-256 (hex) of a key's secret. */
export const hashSecret = (secret: string): string => createHash("sha256").update(secret).digest("hex");

/** Keys of the form `ask_<id>_<secret>`, found by id and compared in constant time. Source: `security.md`, API keys. */
export function createKeyStore(db: Database): KeyStore {
  return {
    async findHolder(key) {
      const [, id = "", secret = ""] = KEY.exec(key) ?? [];
      const now = new Date();
      // Asked for a malformed key too: an unreachable store is told from a wrong key, whatever the key.
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

/** Lets a key end at a time, unless it ends before. @returns the row, if that changed it. */
export async function capKeyLife(db: Database, id: string, until: Date): Promise<ApiKeyRow | undefined> {
  const [row] = await db
    .update(apiKeys)
    .set({ expiresAt: until })
    .where(and(eq(apiKeys.id, id), or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, until))))
    .returning();
  return row;
}
