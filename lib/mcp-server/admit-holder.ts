import { createHash } from "node:crypto";
import type { Database } from "#db/client.ts";
import type { Grant } from "#lib/api/auth/access-watch.ts";
import { isSettingsKey } from "#lib/api/auth/authenticate.ts";
import type { FailedAttempts } from "#lib/api/auth/failed-attempts.ts";
import { clientOf } from "#lib/api/http/client-address.ts";
import { type Failure, fail } from "#lib/api/http/errors.ts";
import { type RateLimiter, rateHeaders } from "#lib/api/http/rates/rate-limiter.ts";
import type { KeyStore } from "#lib/keys/key-store.ts";
import { readUserToken, type UserToken } from "#lib/secrets/user-token.ts";
import type { SecurityLog } from "#lib/security-log/security-log.ts";
import { findSession, type SessionRow } from "#lib/session/session-store.ts";

/** Who holds a session's user token: the agent of that session, or another one, whose calls end with `grant`. */
export type McpHolder = {
  key: string;
  holder: "agent" | "other";
  session: SessionRow;
  grant: Grant | undefined;
};

const UNAUTHORIZED =
  "send a session's user token as Authorization: Bearer <token>; it may have expired, or its API key was revoked";

/** The scope that minting a token needs, and its key must keep. */
const TOKEN_SCOPE = "sessions:write";

/**
 * Makes the check of the built-in server's credential. Source: specification, Authentication, rule 6.
 *
 * @param deps.audience the URL that tokens for this server are bound to.
 */
export function createHolderCheck(deps: {
  db: Database;
  key: Uint8Array;
  /** Keys whose tokens are still accepted. */
  previousKeys?: readonly Uint8Array[];
  audience: string;
  rates: RateLimiter;
  failedAttempts: FailedAttempts;
  keys: Pick<KeyStore, "readLive">;
  /** Ids of the keys in the settings. */
  settingsKeyIds: ReadonlySet<string>;
  securityLog: Pick<SecurityLog, "userTokenRefused">;
  now?: () => Date;
}): (request: Request) => Promise<{ ok: true; holder: McpHolder } | Failure> {
  const { db, audience, rates, failedAttempts, keys, settingsKeyIds, now = () => new Date() } = deps;
  const tokenKeys = [deps.key, ...(deps.previousKeys ?? [])];

  /** Reads a token that one of the accepted keys has signed. */
  function readToken(text: string): UserToken | undefined {
    const expected = { audiences: [audience], now: now() };
    for (const key of tokenKeys) {
      const token = readUserToken(key, text, expected);
      if (token) return token;
    }
    return undefined;
  }

  /**
   * The grant of a token's key; null for a key that was revoked, has expired, lost the scope or left the settings;
   * undefined where no stored key is behind the token.
   */
  async function readGrant(keyId: string | null): Promise<Grant | null | undefined> {
    if (keyId === null) return undefined;
    if (isSettingsKey(keyId)) return settingsKeyIds.has(keyId) ? undefined : null;
    const checkedAt = performance.now();
    const live = (await keys.readLive([keyId])).get(keyId);
    if (!live?.scopes.includes(TOKEN_SCOPE)) return null;
    return { kind: "key", keyId, scopes: [TOKEN_SCOPE], expiresAt: live.expiresAt, checkedAt };
  }

  return async (request) => {
    const { headers } = request;
    const text = /^Bearer +(\S+) *$/i.exec(headers.get("authorization") ?? "")?.[1] ?? "";
    const token = readToken(text);
    const [session, grant] = token
      ? await Promise.all([findSession(db, token.sessionId), readGrant(token.keyId)])
      : [];
    if (!token || !session || grant === null) {
      const refusal = fail("unauthorized", UNAUTHORIZED, {
        "WWW-Authenticate": 'Bearer error="invalid_token"',
      });
      if (text === "") return refusal;
      deps.securityLog.userTokenRefused({ sessionId: token?.sessionId });
      return failedAttempts.refuse(clientOf(request), refusal);
    }
    // The agent's own calls are counted by its turn.
    const verdict = token.holder === "other" ? await rates.take("poll", `mcp/${session.id}`) : undefined;
    if (verdict && !verdict.isAllowed)
      return fail(
        "rate_limited",
        `too many requests; try again in ${Math.max(1, verdict.resetSeconds)} s`,
        rateHeaders(verdict),
      );
    const holderKey = createHash("sha256").update(text).digest("base64url");
    return { ok: true, holder: { key: holderKey, holder: token.holder, session, grant } };
  };
}
