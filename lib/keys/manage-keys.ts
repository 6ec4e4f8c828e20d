import { randomBytes } from "node:crypto";
import type { Database } from "#db/client.ts";
import type { KeyScope } from "./key-scopes.ts";
import {
  type ApiKeyRow,
  capKeyLife,
  findKeyRow,
  formatKey,
  hashSecret,
  insertKeyRow,
  listKeyRows,
  revokeKeyRow,
  setKeyScopes,
} from "./key-store.ts";

/** A key as it is listed: everything but its secret, of which nobody has more than a hash. Times are ISO 8601, UTC. */
export type ListedKey = {
  id: string;
  ownerId: string;
  name: string;
  scopes: string[];
  createdAt: string;
  lastUsedAt: string | null;
  expiresAt: string | null;
  revokedAt: string | null;
};

/** A key that was just made: the one time that its text is told. */
type MadeKey = { key: string; record: ListedKey };

type NewKey = { ownerId: string; name: string; scopes: readonly KeyScope[]; expiresAt: Date | null };

/** Makes a key. Source: `security.md`, API keys. */
export async function createKey(db: Database, key: NewKey, now = new Date()): Promise<MadeKey> {
  const id = randomBytes(8).toString("hex");
  const secret = randomBytes(32).toString("base64url");
  const row = await insertKeyRow(db, {
    ...key,
    id,
    scopes: [...key.scopes],
    secretHash: hashSecret(secret),
    createdAt: now,
  });
  return { key: formatKey(id, secret), record: describeKey(row) };
}

/** The keys of an owner, or of all, newest first. */
export const listKeys = async (db: Database, ownerId?: string): Promise<ListedKey[]> =>
  (await listKeyRows(db, ownerId)).map(describeKey);

/** Ends a key at once, for good; asking again changes nothing. @returns undefined for an unknown one. */
export async function revokeKey(db: Database, id: string, now = new Date()): Promise<ListedKey | undefined> {
  const row = (await revokeKeyRow(db, id, now)) ?? (await findKeyRow(db, id));
  return row && describeKey(row);
}

/** The result of {@link updateKey}. */
type Update =
  | { status: "updated"; record: ListedKey }
  /** It is revoked or has expired. */
  | { status: "over" }
  | { status: "unknown" };

/** Replaces the scopes of a live key. */
export async function updateKey(
  db: Database,
  id: string,
  scopes: readonly KeyScope[],
  now = new Date(),
): Promise<Update> {
  const row = await setKeyScopes(db, id, [...scopes], now);
  if (row) return { status: "updated", record: describeKey(row) };
  return { status: (await findKeyRow(db, id)) ? "over" : "unknown" };
}

/** How a key's successor came about. */
type Rotation =
  | ({ status: "rotated"; old: ListedKey } & MadeKey)
  /** It is revoked or has expired: it has no successor. */
  | { status: "over" }
  | { status: "unknown" };

/**
 * Makes the successor of a key: the same owner, name and scopes, and as long a life. Both are live for the overlap, so
 * that its users can change over without a gap. Source: `security.md`, API keys.
 *
 * @param overlapMs after which the old key ends.
 */
export async function rotateKey(
  db: Database,
  id: string,
  overlapMs: number,
  now = new Date(),
): Promise<Rotation> {
  const found = await findKeyRow(db, id);
  if (!found) return { status: "unknown" };
  if (found.revokedAt || (found.expiresAt && found.expiresAt <= now)) return { status: "over" };
  const { ownerId, name, scopes, createdAt, expiresAt } = found;
  const lifeMs = expiresAt && expiresAt.getTime() - createdAt.getTime();
  const made = await createKey(
    db,
    // Only these are ever written.
    {
      ownerId,
      name,
      scopes: scopes as KeyScope[],
      expiresAt: lifeMs ? new Date(now.getTime() + lifeMs) : null,
    },
    now,
  );
  const old = await capKeyLife(db, id, new Date(now.getTime() + overlapMs));
  return { status: "rotated", old: describeKey(old ?? found), ...made };
}

const describeKey = (row: ApiKeyRow): ListedKey => ({
  id: row.id,
  ownerId: row.ownerId,
  name: row.name,
  scopes: row.scopes,
  createdAt: row.createdAt.toISOString(),
  lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
  expiresAt: row.expiresAt?.toISOString() ?? null,
  revokedAt: row.revokedAt?.toISOString() ?? null,
});
