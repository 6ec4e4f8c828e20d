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
} from "./login-store.ts";

/** An account at the identity provider. `email` is null if the provider gives no verified address. */
export type Account = { issuer: string; subject: string; email: string | null };

/** How a person signs in: with the token of a login link, or with an account. */
export type SignIn = { method: "link"; token: string } | { method: "oidc"; account: Account };

/** A browser that is signed in. */
export type Login = {
  id: string;
  method: LoginMethod;
  /** E-mail address of the account, or the subject of an account without a verified address. Null for a login link. */
  account: string | null;
  userAgent: string | null;
  createdAt: Date;
  /** Time of the last use, accurate to about a minute. */
  lastSeenAt: Date;
  /** Time at which the login ends if it is not used again. */
  expiresAt: Date;
};

/**
 * The logins of the operator, that is, browsers that are signed in on the landing page. A login is live until it is
 * ended, reaches its maximum age, or is unused for too long.
 */
export type Logins = {
  /** Opens a login. @returns the login and the token for its cookie; undefined if the login link was used before. */
  open: (signIn: SignIn, userAgent: string | null) => Promise<{ login: Login; token: string } | undefined>;
  /**
   * Finds the live login that a cookie's token belongs to, and updates its `lastSeenAt` about once a minute. Undefined
   * if there is no such login, or if the settings no longer allow the login's account.
   */
  find: (token: string) => Promise<Login | undefined>;
  /** Lists the live logins whose account the settings still allow, the most recently used first. */
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

type LoginsDeps = {
  db: Database;
  /** The deployment's secret key. After a change of the key, the tokens of earlier logins are not accepted. */
  key: Uint8Array;
  /** Milliseconds after which an unused login ends. */
  idleMs: number;
  lifeMs: number;
  /** Whether the current settings allow an account to sign in. */
  isAllowed: (account: Account) => boolean;
  now?: () => number;
};

/** @see Logins */
export function createLogins({ db, key, idleMs, lifeMs, isAllowed, now = Date.now }: LoginsDeps): Logins {
  const hashKey = createHmac("sha256", key).update("login-hash/v1").digest();
  const hash = (text: string) => createHmac("sha256", hashKey).update(text).digest("base64url");
  const touchEveryMs = Math.min(MINUTE_MS, idleMs / 4);
  const liveSince = (agoMs = 0) => ({
    createdAfter: new Date(now() - lifeMs - agoMs),
    seenAfter: new Date(now() - idleMs - agoMs),
  });

  /** Whether the current settings allow the account of a login. True if the login was opened with a login link. */
  function isAccepted({ method, issuer, subject, email }: LoginRow): boolean {
    if (method === "link") return true;
    return issuer !== null && subject !== null && isAllowed({ issuer, subject, email });
  }
  function describeRow({ id, method, email, subject, userAgent, createdAt, lastSeenAt }: LoginRow): Login {
    const endsAt = Math.min(createdAt.getTime() + lifeMs, lastSeenAt.getTime() + idleMs);
    return {
      id,
      method,
      account: email ?? subject,
      userAgent,
      createdAt,
      lastSeenAt,
      expiresAt: new Date(endsAt),
    };
  }

  return {
    lifeMs,
    async open(signIn, userAgent) {
      const token = randomBytes(32).toString("base64url");
      const at = new Date(now());
      const row = await insertLogin(db, {
        id: newId("lgn"),
        tokenHash: hash(token),
        method: signIn.method,
        ...(signIn.method === "link" ? { linkHash: hash(signIn.token) } : signIn.account),
        userAgent: userAgent?.slice(0, USER_AGENT_MAX) ?? null,
        createdAt: at,
        lastSeenAt: at,
      });
      return row && { login: describeRow(row), token };
    },
    async find(token) {
      const row = await findLoginRow(db, hash(token), liveSince());
      if (!row || !isAccepted(row)) return undefined;
      if (now() - row.lastSeenAt.getTime() > touchEveryMs) await touchLogin(db, row.id, new Date(now()));
      return describeRow(row);
    },
    list: async () => (await listLoginRows(db, liveSince())).filter(isAccepted).map(describeRow),
    end: async (id) => (await endLoginRow(db, id, new Date(now()))) !== undefined,
    deleteOld: () => deleteOldLogins(db, new Date(now() - RETENTION_MS), liveSince(RETENTION_MS)),
  };
}
