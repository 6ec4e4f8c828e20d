import { createHash } from "node:crypto";
import type { Database } from "#db/client.ts";
import type { Grant } from "#lib/api/auth/access-watch.ts";
import { isSettingsKey } from "#lib/api/auth/authenticate.ts";
import type { FailedAttempts } from "#lib/api/auth/failed-attempts.ts";
import { clientOf } from "#lib/api/http/client-address.ts";
import { type Failure, fail } from "#lib/api/http/errors.ts";
import { type RateLimiter, rateHeaders } from "#lib/api/http/rates/rate-limiter.ts";
import type { KeyStore } from "#lib/keys/key-store.ts";
import { readUserToken } from "#lib/secrets/user-token.ts";
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

/**
 * Makes the check of the built-in server's credential. Source: specification, Authentication, rule 6.
 *
 * @param deps.audience the URL that tokens for this server are bound to.
 */
export function createHolderCheck(deps: {
  db: Database;
  key: Uint8Array;
  audience: string;
  rates: RateLimiter;
  failedAttempts: FailedAttempts;
  keys: Pick<KeyStore, "readExpiries">;
  now?: () => Date;
}): (request: Request) => Promise<{ ok: true; holder: McpHolder } | Failure> {
  const { db, key, audience, rates, failedAttempts, keys, now = () => new Date() } = deps;

  /** The grant of a token's key, null for a key that was revoked or has expired, undefined where no stored key is behind it. */
  async function readGrant(keyId: string | null): Promise<Grant | null | undefined> {
    if (keyId === null || isSettingsKey(keyId)) return undefined;
    const checkedAt = performance.now();
    const expiresAt = (await keys.readExpiries([keyId])).get(keyId);
    return expiresAt === undefined ? null : { kind: "key", keyId, expiresAt, checkedAt };
  }

  return async (request) => {
    const { headers } = request;
    const text = /^Bearer +(\S+) *$/i.exec(headers.get("authorization") ?? "")?.[1] ?? "";
    const token = readUserToken(key, text, { audiences: [audience], now: now() });
    const [session, grant] = token
      ? await Promise.all([findSession(db, token.sessionId), readGrant(token.keyId)])
      : [];
    if (!token || !session || grant === null) {
      const refusal = fail("unauthorized", UNAUTHORIZED, {
        "WWW-Authenticate": 'Bearer error="invalid_token"',
      });
      return text === "" ? refusal : failedAttempts.refuse(clientOf(request), refusal);
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
