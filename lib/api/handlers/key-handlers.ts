import { KEY_SCOPES } from "#lib/keys/key-scopes.ts";
import * as keys from "#lib/keys/manage-keys.ts";
import { resealSecrets } from "#lib/session/secrets/reseal-secrets.ts";
import { actorOf } from "../auth/actor-of.ts";
import { fail } from "../http/errors.ts";
import type { Answer, CallOf, Handlers } from "./handler.ts";
import type { ApiServices } from "./services.ts";

const DAY_MS = 24 * 3_600_000;
const OVERLAP_HOURS = 24;

/** `GET /actions/keys`: lists all keys, or the keys of one owner, newest first, without secrets. */
export async function listKeys(
  services: Pick<ApiServices, "db">,
  { query }: CallOf<"listKeys">,
): Promise<Answer> {
  const data = await keys.listKeys(services.db, query.owner);
  return { ok: true, status: 200, body: { success: true, data, nextCursor: null } };
}

/** `POST /actions/keys`: creates a key. Only this response contains the key's text. */
export async function createKey(
  services: Pick<ApiServices, "db" | "securityLog">,
  { body, caller }: CallOf<"createKey">,
): Promise<Answer> {
  const { ownerId, name, scopes = KEY_SCOPES, expiresInDays } = body;
  const expiresAt = expiresInDays === undefined ? null : new Date(Date.now() + expiresInDays * DAY_MS);
  const created = await keys.createKey(services.db, { ownerId, name, scopes, expiresAt });
  services.securityLog.keyCreated({ actor: actorOf(caller), keyId: created.record.id, ownerId, scopes });
  return { ok: true, status: 201, body: { success: true, ...created } };
}

type KeyServices = Pick<ApiServices, "db" | "securityLog"> & {
  access: Pick<ApiServices["access"], "keyChanged">;
};

/**
 * `DELETE /actions/keys/:keyId`: revokes the key and closes its open connections at once. Repeating the call changes
 * nothing.
 */
export async function revokeKey(
  services: KeyServices,
  { params, caller }: CallOf<"revokeKey">,
): Promise<Answer> {
  const record = await keys.revokeKey(services.db, params.keyId);
  if (!record) return unknownKey();
  services.access.keyChanged(record.id);
  services.securityLog.keyRevoked({ actor: actorOf(caller), keyId: record.id, ownerId: record.ownerId });
  return { ok: true, status: 200, body: { success: true, record } };
}

/** `PATCH /actions/keys/:keyId`: replaces the scopes. Open connections that need a removed scope are closed at once. */
export async function updateKey(
  services: KeyServices,
  { params, body, caller }: CallOf<"updateKey">,
): Promise<Answer> {
  const updated = await keys.updateKey(services.db, params.keyId, body.scopes);
  if (updated.status === "unknown") return unknownKey();
  if (updated.status === "ended") return keyHasEnded();
  const { id, ownerId, scopes } = updated.record;
  services.access.keyChanged(id);
  services.securityLog.keyScopesChanged({ actor: actorOf(caller), keyId: id, ownerId, scopes });
  return { ok: true, status: 200, body: { success: true, record: updated.record } };
}

/**
 * `POST /actions/keys/:keyId/rotate`: creates a successor of the key. The old key stays valid until the overlap ends,
 * or until its own expiry if that is earlier.
 */
export async function rotateKey(
  services: KeyServices,
  { params, body, caller }: CallOf<"rotateKey">,
): Promise<Answer> {
  const overlapMs = (body.overlapHours ?? OVERLAP_HOURS) * 3_600_000;
  const rotated = await keys.rotateKey(services.db, params.keyId, overlapMs);
  if (rotated.status === "unknown") return unknownKey();
  if (rotated.status === "ended") return keyHasEnded();
  if (rotated.status === "succeeded")
    return fail(
      "conflict",
      `this key already has the successor ${rotated.successorId}; rotate that key, or revoke it first`,
    );
  const { key, record, old } = rotated;
  services.access.keyChanged(old.id);
  services.securityLog.keyRotated({
    actor: actorOf(caller),
    keyId: old.id,
    successorId: record.id,
    ownerId: old.ownerId,
  });
  return { ok: true, status: 201, body: { success: true, key, record, old } };
}

const keyHasEnded = () => fail("conflict", "this key is revoked or has expired; create a new one");

/** `POST /actions/encryption/rotate`: encrypts a batch of the stored secrets with the current key. */
export async function rotateEncryption(
  services: Pick<ApiServices, "db" | "sealer" | "securityLog">,
  { body, caller }: CallOf<"rotateEncryption">,
): Promise<Answer> {
  const outcome = await resealSecrets(services, body.cursor);
  services.securityLog.encryptionRotated({ actor: actorOf(caller), resealed: outcome.resealed });
  return { ok: true, status: 200, body: { success: true, ...outcome } };
}

const unknownKey = () => fail("not_found", "no such key");

export const keyHandlers = {
  listKeys,
  createKey,
  revokeKey,
  updateKey,
  rotateKey,
  rotateEncryption,
} satisfies Partial<Handlers>;
