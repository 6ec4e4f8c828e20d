import { createHash, timingSafeEqual } from "node:crypto";
import type { ShareRole } from "#db/schema/unions.ts";
import { KEY_SCOPES, type KeyScope } from "#lib/keys/key-scopes.ts";
import type { KeyHolder, KeyStore } from "#lib/keys/key-store.ts";
import { type Failure, fail } from "../http/errors.ts";
import type { Grant } from "./access-watch.ts";

/** Who calls with a valid key: the key itself, whose it is, and what it may do. */
export type Caller = Omit<KeyHolder, "expiresAt"> & {
  /**
   * What an open connection of this caller depends on, with all scopes of the key; absent for keys of the settings,
   * which a restart alone changes.
   */
  grant?: KeyGrant;
  /** The login of an operator. */
  loginId?: string;
};

type KeyGrant = Extract<Grant, { kind: "key" }>;

export type Authenticator = (headers: Headers) => Promise<{ ok: true; caller: Caller } | Failure>;

const SETTINGS = "settings:";
const UNAUTHORIZED =
  "send a valid API key as Authorization: Bearer <API_KEY> or X-Service-Api-Key: <API_KEY>";
const UNAVAILABLE = "the API key could not be checked, because the key store is out of reach; try again";

/**
 * Checks API keys: those of the configuration first, then the store. Source: specification, Authentication.
 *
 * @param configured keys accepted besides the store's, with their owners (`SERVICE_API_KEYS`).
 * @param timeoutMs a store that says nothing for so long counts as out of reach.
 */
export function createAuthenticator(
  configured: { key: string; ownerId: string }[],
  store: KeyStore,
  timeoutMs = 5_000,
): Authenticator {
  const known = configured.map(({ key, ownerId }) => ({
    hash: sha256(key),
    caller: { keyId: settingsKeyId(key), ownerId, scopes: KEY_SCOPES },
  }));
  return async (headers) => {
    const key = readKey(headers);
    if (key === undefined) return fail("unauthorized", UNAUTHORIZED);
    const hash = sha256(key);
    const match = known.find((candidate) => timingSafeEqual(candidate.hash, hash));
    if (match) return { ok: true, caller: match.caller };
    const checkedAt = performance.now();
    try {
      const holder = await within(store.findHolder(key), timeoutMs);
      if (!holder) return fail("unauthorized", UNAUTHORIZED);
      const { keyId, ownerId, scopes, expiresAt } = holder;
      const held = KEY_SCOPES.filter((scope) => scopes.includes(scope));
      const grant: KeyGrant = { kind: "key", keyId, scopes: held, expiresAt, checkedAt };
      return { ok: true, caller: { keyId, ownerId, scopes, grant } };
    } catch {
      // Whatever kept the store from answering, the key may well be good.
      return fail("auth_unavailable", UNAVAILABLE);
    }
  };
}

/** The id of a key of the settings, which is not in the store and cannot be revoked at runtime. */
export const settingsKeyId = (key: string): string =>
  `${SETTINGS}${sha256(key).toString("hex").slice(0, 16)}`;

/** Whether an id is that of a key of the settings, of this process or an earlier one. */
export const isSettingsKey = (keyId: string): boolean => keyId.startsWith(SETTINGS);

/** The refusal of a key that may not do this; undefined for one that may. The keys of the settings may do everything. */
export const refuseScope = ({ scopes }: Caller, needed: KeyScope): Failure | undefined =>
  scopes.includes(needed) ? undefined : fail("forbidden", `this API key lacks the scope ${needed}`);

/** What the holder of a key may do where a share link's role decides. */
export const roleOf = ({ scopes }: Caller): ShareRole =>
  scopes.includes("sessions:write") ? "drive" : "view";

/** The key in either accepted header; the authorization header wins. */
export function readKey(headers: Headers): string | undefined {
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.get("authorization") ?? "")?.[1];
  const key = bearer ?? headers.get("x-service-api-key")?.trim();
  return key === undefined || key === "" || key.length > 1_000 ? undefined : key;
}

/** @throws Error when nothing came in time. */
async function within<Value>(work: Promise<Value>, timeoutMs: number): Promise<Value> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("no answer in time")), timeoutMs);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

const sha256 = (text: string) => createHash("sha256").update(text).digest();
