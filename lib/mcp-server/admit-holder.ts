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
import { findSession, type SessionRow } from "#lib/session/store/session-store.ts";

/**
 * The holder of a user token: the session's own agent, or another agent. `key` identifies the token. `grant` is the
 * access of the API key that created the token; the holder's calls are aborted when the grant ends. `grant` is
 * undefined if the token does not depend on a stored API key.
 */
export type McpHolder = {
  key: string;
  holder: "agent" | "other";
  session: SessionRow;
  grant: Grant | undefined;
};

const UNAUTHORIZED =
  "send a session's user token as Authorization: Bearer <token>; it may have expired, or its API key was revoked";

/**
 * The scope that an API key needs to create a user token. If the key loses this scope later, its tokens are refused.
 */
const TOKEN_SCOPE = "sessions:write";

/**
 * Creates the function that authenticates requests to the built-in server by their user token, and limits the rate of
 * the requests of other agents. Source: specification, Authentication, rule 6.
 *
 * @param deps.audience the URL of this server. Tokens for other URLs are refused.
 */
export function createHolderCheck(deps: {
  db: Database;
  key: Uint8Array;
  /** Former token keys, whose tokens are still accepted. */
  previousKeys?: readonly Uint8Array[];
  audience: string;
  rates: RateLimiter;
  failedAttempts: FailedAttempts;
  keys: Pick<KeyStore, "readLive">;
  /** Ids of the API keys that the deployment's settings define. */
  settingsKeyIds: ReadonlySet<string>;
  securityLog: Pick<SecurityLog, "userTokenRefused">;
  now?: () => Date;
}): (request: Request) => Promise<{ ok: true; holder: McpHolder } | Failure> {
  const { db, audience, rates, failedAttempts, keys, settingsKeyIds, now = () => new Date() } = deps;
  const tokenKeys = [deps.key, ...(deps.previousKeys ?? [])];

  /**
   * Reads a token. Returns undefined if none of the accepted keys has signed it, if it has expired, or if it is for
   * another URL.
   */
  function readToken(text: string): UserToken | undefined {
    const expected = { audiences: [audience], now: now() };
    for (const key of tokenKeys) {
      const token = readUserToken(key, text, expected);
      if (token) return token;
    }
    return undefined;
  }

  /**
   * Reads the grant of the API key that created a token. Null if the key was revoked, has expired, has lost the scope
   * or is no longer in the settings. Undefined if the token does not depend on a stored key.
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
    // The session's own agent is not limited here, because the agent's turn already limits its calls.
    const verdict = token.holder === "other" ? await rates.consume("poll", `mcp/${session.id}`) : undefined;
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
