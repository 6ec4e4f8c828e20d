import { createHash, timingSafeEqual } from "node:crypto";
import type { ShareRole } from "#db/schema/unions.ts";
import { KEY_SCOPES, type KeyScope } from "#lib/keys/key-scopes.ts";
import type { KeyHolder, KeyStore } from "#lib/keys/key-store.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import { type Failure, fail } from "../http/errors.ts";
import type { Grant } from "./access-watch.ts";

/** The caller of a request with a valid credential: the id, the owner and the scopes of the key. */
export type Caller = Omit<KeyHolder, "expiresAt"> & {
  /**
   * The grant to watch while a connection of this caller is open, with all scopes of the key. Absent for the operator,
   * and for keys from the settings, because such keys change only with a restart.
   */
  grant?: KeyGrant;
  /** Id of the operator's login. Absent for callers with an API key. */
  loginId?: string;
};

type KeyGrant = Extract<Grant, { kind: "key" }>;

export type Authenticator = (headers: Headers) => Promise<{ ok: true; caller: Caller } | Failure>;

const SETTINGS = "settings:";
const UNAUTHORIZED =
  "send a valid API key as Authorization: Bearer <API_KEY> or X-Service-Api-Key: <API_KEY>";
const UNAVAILABLE = "the API key could not be checked, because the key store is out of reach; try again";

/**
 * Creates the check of API keys. The check compares a key with the keys from the settings first, then looks the key up
 * in the store. Source: specification, Authentication.
 *
 * @param configured the keys from the settings, with their owners (`SERVICE_API_KEYS`).
 * @param timeoutMs if the store does not answer within this time, it counts as unreachable.
 */
export function createAuthenticator(
  configured: { key: string; ownerId: string }[],
  store: KeyStore,
  timeoutMs = 5_000,
): Authenticator {
  const settingsKeys = configured.map(({ key, ownerId }) => ({
    hash: sha256(key),
    caller: { keyId: settingsKeyId(key), ownerId, scopes: KEY_SCOPES },
  }));
  return async (headers) => {
    const key = readKey(headers);
    if (key === undefined) return fail("unauthorized", UNAUTHORIZED);
    const hash = sha256(key);
    const match = settingsKeys.find((candidate) => timingSafeEqual(candidate.hash, hash));
    if (match) return { ok: true, caller: match.caller };
    const checkedAt = performance.now();
    try {
      const holder = await createDeadline({ ms: timeoutMs, lateMessage: "no answer in time" }).race(
        store.findHolder(key),
      );
      if (!holder) return fail("unauthorized", UNAUTHORIZED);
      const { keyId, ownerId, scopes, expiresAt } = holder;
      const grantedScopes = KEY_SCOPES.filter((scope) => scopes.includes(scope));
      const grant: KeyGrant = { kind: "key", keyId, scopes: grantedScopes, expiresAt, checkedAt };
      return { ok: true, caller: { keyId, ownerId, scopes, grant } };
    } catch {
      // The store did not answer, so the key may be valid. The answer must not say that the key is wrong.
      return fail("auth_unavailable", UNAVAILABLE);
    }
  };
}

/** Returns the id of a key from the settings. Such a key is not in the store and cannot be revoked at runtime. */
export const settingsKeyId = (key: string): string =>
  `${SETTINGS}${sha256(key).toString("hex").slice(0, 16)}`;

/** Whether an id belongs to a key from the settings. True also for a key that was removed from the settings. */
export const isSettingsKey = (keyId: string): boolean => keyId.startsWith(SETTINGS);

/** Returns the refusal if a key lacks the needed scope, otherwise undefined. Keys from the settings have all scopes. */
export const refuseScope = ({ scopes }: Caller, needed: KeyScope): Failure | undefined =>
  scopes.includes(needed) ? undefined : fail("forbidden", `this API key lacks the scope ${needed}`);

/** Returns the role of a share link that allows the same access as the caller's key. */
export const roleOf = ({ scopes }: Caller): ShareRole =>
  scopes.includes("sessions:write") ? "drive" : "view";

/**
 * Reads the key of a request. `Authorization` takes precedence over `X-Service-Api-Key`. Undefined if the request has
 * no key, or a key of more than 1,000 characters.
 */
export function readKey(headers: Headers): string | undefined {
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.get("authorization") ?? "")?.[1];
  const key = bearer ?? headers.get("x-service-api-key")?.trim();
  return key === undefined || key === "" || key.length > 1_000 ? undefined : key;
}

const sha256 = (text: string) => createHash("sha256").update(text).digest();
