import { randomBytes } from "node:crypto";
import type { Database, Executor } from "#db/client.ts";
import type { KeyScope } from "./key-scopes.ts";
import {
  type ApiKeyRow,
  capKeyLife,
  findKeyRow,
  formatKey,
  hashSecret,
  insertKeyRow,
  listKeyRows,
  lockKeyRow,
  revokeKeyRow,
  setKeyScopes,
  setSuccessor,
} from "./key-store.ts";

/**
 * A key, as a list of keys shows it. The secret is not included, because only its hash is stored. Times are ISO 8601,
 * UTC.
 */
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

/** A new key. `key` is its full text, including the secret; no later call can return this text. */
type CreatedKey = { key: string; record: ListedKey };

type NewKey = { ownerId: string; name: string; scopes: readonly KeyScope[]; expiresAt: Date | null };

/** Creates a key. Source: `security.md`, API keys. */
export async function createKey(db: Executor, key: NewKey, now = new Date()): Promise<CreatedKey> {
  const id = randomBytes(8).toString("hex");
  const secret = randomBytes(32).toString("base64url");
  const row = await insertKeyRow(db, {
    ...key,
    id,
    scopes: [...key.scopes],
    secretHash: hashSecret(secret),
    createdAt: now,
    lifetimeMs: key.expiresAt && key.expiresAt.getTime() - now.getTime(),
  });
  return { key: formatKey(id, secret), record: describeKey(row) };
}

/** Lists the keys of an owner, newest first. Without an owner, lists the keys of all owners. */
export const listKeys = async (db: Database, ownerId?: string): Promise<ListedKey[]> =>
  (await listKeyRows(db, ownerId)).map(describeKey);

/** Revokes a key at once and permanently; revoking it again changes nothing. @returns undefined for an unknown key. */
export async function revokeKey(db: Database, id: string, now = new Date()): Promise<ListedKey | undefined> {
  const row = (await revokeKeyRow(db, id, now)) ?? (await findKeyRow(db, id));
  return row && describeKey(row);
}

/** The result of {@link updateKey}. */
type Update =
  | { status: "updated"; record: ListedKey }
  /** The key is revoked or has expired. */
  | { status: "ended" }
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
  return { status: (await findKeyRow(db, id)) ? "ended" : "unknown" };
}

/** The result of {@link rotateKey}. */
type Rotation =
  | ({ status: "rotated"; old: ListedKey } & CreatedKey)
  /** The key was rotated before, and its successor is valid. */
  | { status: "succeeded"; successorId: string }
  /** The key is revoked or has expired, so it gets no successor. */
  | { status: "ended" }
  | { status: "unknown" };

/**
 * Creates a successor for a key: a new key with the same owner, name and scopes, and with the lifetime that the key was
 * created with. Both keys are valid during the overlap, so that clients can switch without an interruption. A key has at
 * most one valid successor. Source: `security.md`, API keys.
 *
 * @param overlapMs milliseconds after which the old key expires, unless it expires earlier.
 */
export async function rotateKey(
  db: Database,
  id: string,
  overlapMs: number,
  now = new Date(),
): Promise<Rotation> {
  return db.transaction(async (tx): Promise<Rotation> => {
    const found = await lockKeyRow(tx, id);
    if (!found) return { status: "unknown" };
    if (hasEnded(found, now)) return { status: "ended" };
    const { ownerId, name, scopes, lifetimeMs, successorId } = found;
    const successor = successorId === null ? undefined : await findKeyRow(tx, successorId);
    if (successor && !hasEnded(successor, now)) return { status: "succeeded", successorId: successor.id };
    const expiresAt = lifetimeMs === null ? null : new Date(now.getTime() + lifetimeMs);
    // The cast is safe because only scopes of this type are written to the rows.
    const created = await createKey(tx, { ownerId, name, scopes: scopes as KeyScope[], expiresAt }, now);
    await setSuccessor(tx, id, created.record.id);
    const old = await capKeyLife(tx, id, new Date(now.getTime() + overlapMs));
    return { status: "rotated", old: describeKey(old ?? found), ...created };
  });
}

const hasEnded = ({ revokedAt, expiresAt }: ApiKeyRow, now: Date): boolean =>
  revokedAt !== null || (expiresAt !== null && expiresAt <= now);

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
