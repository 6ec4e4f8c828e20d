import { createHmac, randomBytes } from "node:crypto";
import type { Database } from "#db/client.ts";
import type { LoginMethod } from "#db/schema/unions.ts";
import { newId } from "#lib/session/new-id.ts";
import {
  deleteOldLogins,
  endLoginRow,
  findLoginRow,
  insertLogin,
  type LoginRow,
  listLoginRows,
  touchLogin,
  trimKeyLogins,
} from "./login-store.ts";

/** An account at the identity provider. `email` is null if the provider gives no verified address. */
export type Account = { issuer: string; subject: string; email: string | null };

/** How a person signs in: with the token of a login link, with an account, or with an API key. */
export type SignIn =
  | { method: "link"; token: string }
  | { method: "oidc"; account: Account }
  | { method: "key"; keyId: string };

/** What the API key of a login gives access to: the sessions of an owner, with the scopes of the key. */
export type KeyAccess = { keyId: string; ownerId: string; scopes: readonly string[] };

/** A browser that is signed in. */
export type Login = {
  id: string;
  method: LoginMethod;
  /**
   * E-mail address of the account, or the subject of an account without a verified address; for an API key, the owner
   * of the key. Null for a login link.
   */
  account: string | null;
  /** The access of a login with an API key. Null for an operator, who signed in with a login link or an account. */
  key: KeyAccess | null;
  userAgent: string | null;
  createdAt: Date;
  /** Time of the last use, accurate to about a minute. */
  lastSeenAt: Date;
  /** Time at which the login ends if it is not used again. */
  expiresAt: Date;
};

/**
 * The logins of operators and of holders of API keys, that is, browsers that are signed in on the landing page. A login
 * is live until it is ended, reaches its maximum age, or is unused for too long, and no longer than its API key.
 */
export type Logins = {
  /**
   * Opens a login, and ends the one that it replaces. An API key has at most 20 live logins: one more ends the login of
   * the key that was unused for the longest time.
   *
   * @param previousId id of the login that the browser had before.
   * @returns the id of the login and the token for its cookie; undefined if the login link was used before.
   */
  open: (
    signIn: SignIn,
    userAgent: string | null,
    previousId?: string,
  ) => Promise<{ id: string; token: string } | undefined>;
  /**
   * Finds the live login that a cookie's token belongs to, and updates its `lastSeenAt` about once a minute. Undefined
   * if there is no such login, if the settings no longer allow the login's account, or if its API key has ended.
   */
  find: (token: string) => Promise<Login | undefined>;
  /**
   * Lists the 500 live logins that were used last, the most recently used first, without those whose account the settings
   * no longer allow and those whose API key has ended.
   */
  list: () => Promise<Login[]>;
  /** Ends a login at once, in every process; ending it again changes nothing. @returns false for an unknown login. */
  end: (id: string) => Promise<boolean>;
  /** Deletes the rows of logins that ended more than a day ago. */
  deleteOld: () => Promise<void>;
  /** Maximum age of a login in milliseconds. A login ends at this age even if it is in use. */
  lifeMs: number;
};

const MINUTE_MS = 60_000;
const RETENTION_MS = 24 * 60 * MINUTE_MS;
const USER_AGENT_MAX = 200;
const KEY_LOGINS_MAX = 20;
const LISTED_MAX = 500;

type LoginsDeps = {
  db: Database;
  /** The deployment's secret key. After a change of the key, the tokens of earlier logins are not accepted. */
  key: Uint8Array;
  /** Milliseconds after which an unused login ends. */
  idleMs: number;
  lifeMs: number;
  /** Whether the current settings allow an account to sign in. */
  isAllowed: (account: Account) => boolean;
  /** Reads the access of API keys by id. Leaves out keys that are unknown, revoked or expired. */
  readKeys: (keyIds: string[]) => Promise<Map<string, KeyAccess>>;
  now?: () => number;
};

/** @see Logins */
export function createLogins(deps: LoginsDeps): Logins {
  const { db, key, idleMs, lifeMs, isAllowed, readKeys, now = Date.now } = deps;
  const hashKey = createHmac("sha256", key).update("login-hash/v1").digest();
  const hash = (text: string) => createHmac("sha256", hashKey).update(text).digest("base64url");
  const touchEveryMs = Math.min(MINUTE_MS, idleMs / 4);
  const liveSince = (agoMs = 0) => ({
    createdAfter: new Date(now() - lifeMs - agoMs),
    seenAfter: new Date(now() - idleMs - agoMs),
  });

  /** Returns the columns that name the credential of a sign-in. */
  function identify(signIn: SignIn): Partial<LoginRow> {
    if (signIn.method === "link") return { linkHash: hash(signIn.token) };
    return signIn.method === "oidc" ? signIn.account : { keyId: signIn.keyId };
  }
  /** Whether the login link, the account or the API key of a login still allows it. */
  function isAccepted({ method, issuer, subject, email }: LoginRow, access: KeyAccess | null): boolean {
    if (method === "link") return true;
    if (method === "key") return access !== null;
    return issuer !== null && subject !== null && isAllowed({ issuer, subject, email });
  }
  /** Describes the logins of rows, without those that are no longer allowed. */
  async function describeRows(rows: LoginRow[]): Promise<Login[]> {
    const keyIds = new Set(rows.flatMap(({ keyId }) => (keyId === null ? [] : [keyId])));
    const keys = keyIds.size === 0 ? new Map<string, KeyAccess>() : await readKeys([...keyIds]);
    return rows.flatMap((row) => {
      const access = (row.keyId !== null && keys.get(row.keyId)) || null;
      return isAccepted(row, access) ? [describeRow(row, access)] : [];
    });
  }
  function describeRow(row: LoginRow, access: KeyAccess | null): Login {
    const { id, method, email, subject, userAgent, createdAt, lastSeenAt } = row;
    const endsAt = Math.min(createdAt.getTime() + lifeMs, lastSeenAt.getTime() + idleMs);
    return {
      id,
      method,
      account: email ?? subject ?? access?.ownerId ?? null,
      key: access,
      userAgent,
      createdAt,
      lastSeenAt,
      expiresAt: new Date(endsAt),
    };
  }

  return {
    lifeMs,
    async open(signIn, userAgent, previousId) {
      const token = randomBytes(32).toString("base64url");
      const at = new Date(now());
      const row = await insertLogin(db, {
        id: newId("lgn"),
        tokenHash: hash(token),
        method: signIn.method,
        ...identify(signIn),
        userAgent: userAgent?.slice(0, USER_AGENT_MAX) ?? null,
        createdAt: at,
        lastSeenAt: at,
      });
      if (!row) return undefined;
      if (previousId !== undefined) await endLoginRow(db, previousId, at);
      if (signIn.method === "key") await trimKeyLogins(db, signIn.keyId, KEY_LOGINS_MAX, liveSince());
      return { id: row.id, token };
    },
    async find(token) {
      const row = await findLoginRow(db, hash(token), liveSince());
      if (!row) return undefined;
      const [login] = await describeRows([row]);
      if (!login) return undefined;
      if (now() - row.lastSeenAt.getTime() > touchEveryMs) await touchLogin(db, row.id, new Date(now()));
      return login;
    },
    list: async () => describeRows(await listLoginRows(db, liveSince(), LISTED_MAX)),
    end: async (id) => (await endLoginRow(db, id, new Date(now()))) !== undefined,
    deleteOld: () => deleteOldLogins(db, new Date(now() - RETENTION_MS), liveSince(RETENTION_MS)),
  };
}
