import { createHash } from "node:crypto";
import type { Database } from "#db/client.ts";
import type { Grant } from "#lib/api/auth/access-watch.ts";
import { type Authenticator, isSettingsKey, readKey } from "#lib/api/auth/authenticate.ts";
import type { FailedAttempts } from "#lib/api/auth/failed-attempts.ts";
import { contract } from "#lib/api/contract/contract.ts";
import { clientOf } from "#lib/api/http/client-address.ts";
import { type Failure, fail } from "#lib/api/http/errors.ts";
import { type RateLimiter, rateHeaders } from "#lib/api/http/rates/rate-limiter.ts";
import type { KeyStore } from "#lib/keys/key-store.ts";
import { isUserToken, readUserToken, type UserToken } from "#lib/secrets/user-token.ts";
import type { SecurityLog } from "#lib/security-log/security-log.ts";
import { findSession, type SessionRow } from "#lib/session/store/session-store.ts";
import { readCredential } from "./sessions/session-api.ts";

/**
 * `key` identifies the credential. `grant` is the access of the API key, or of the API key that created the token; the
 * holder's calls are aborted when the grant ends. `grant` is undefined if the credential does not depend on a stored key.
 */
type HolderBase = { key: string; ownerId: string; grant: Grant | undefined };

/** The holder of a user token: the session's own agent, or another agent. */
export type TokenHolder = HolderBase & { holder: "agent" | "other"; session: SessionRow };

/** The holder of an API key. `credential` has the headers with the key. */
export type KeyHolder = HolderBase & { holder: "key"; credential: Headers };

type McpHolder = TokenHolder | KeyHolder;

const UNAUTHORIZED =
  "send an API key or a session's user token as Authorization: Bearer <key or token>; it may have expired or been revoked";

/**
 * The scope that an API key needs to create a user token. If the key loses this scope later, its tokens are refused.
 */
const TOKEN_SCOPE = "sessions:write";

/**
 * Creates the function that authenticates requests to the built-in server by their user token or API key, and limits the
 * rate of the requests of other agents and of holders of keys. Source: specification, Authentication, rule 6; decision
 * 135.
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
  authenticate: Authenticator;
  keys: Pick<KeyStore, "readLive">;
  /** Ids of the API keys that the deployment's settings define. */
  settingsKeyIds: ReadonlySet<string>;
  securityLog: Pick<SecurityLog, "userTokenRefused">;
  now?: () => Date;
}): (request: Request) => Promise<Admission> {
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

  const metadataUrl = new URL(contract.readMcpResource.path, audience).href;
  /** Refuses a request. The header names the metadata of this server. Source: RFC 9728, section 5.1. */
  const refuse = (error?: "invalid_token"): Failure =>
    fail("unauthorized", UNAUTHORIZED, {
      "WWW-Authenticate": `Bearer ${error ? `error="${error}", ` : ""}resource_metadata="${metadataUrl}"`,
    });

  async function admitKey(request: Request, key: string): Promise<Admission> {
    const credential = readCredential(request.headers);
    const checked = await deps.authenticate(credential);
    if (!checked.ok)
      return checked.code === "unauthorized"
        ? failedAttempts.refuse(clientOf(request), refuse("invalid_token"))
        : checked;
    const { keyId, ownerId, grant } = checked.caller;
    const refused = await refuseRate(`mcp/${keyId}`);
    if (refused) return refused;
    // Each operation checks the scope that it needs, so a key that has lost a scope can still use the others.
    const watched = grant && { ...grant, scopes: [] };
    return { ok: true, holder: { key: hashOf(key), holder: "key", ownerId, grant: watched, credential } };
  }

  async function refuseRate(subject: string): Promise<Failure | undefined> {
    const verdict = await rates.consume("poll", subject);
    return verdict && !verdict.isAllowed
      ? fail(
          "rate_limited",
          `too many requests; try again in ${Math.max(1, verdict.resetSeconds)} s`,
          rateHeaders(verdict),
        )
      : undefined;
  }

  return async (request) => {
    const text = /^Bearer +(\S+) *$/i.exec(request.headers.get("authorization") ?? "")?.[1] ?? "";
    if (!isUserToken(text)) {
      const key = readKey(request.headers);
      if (key !== undefined) return admitKey(request, key);
      return text === "" ? refuse() : failedAttempts.refuse(clientOf(request), refuse("invalid_token"));
    }
    const token = readToken(text);
    const [session, grant] = token
      ? await Promise.all([findSession(db, token.sessionId), readGrant(token.keyId)])
      : [];
    if (!token || !session || grant === null) {
      deps.securityLog.userTokenRefused({ sessionId: token?.sessionId });
      return failedAttempts.refuse(clientOf(request), refuse("invalid_token"));
    }
    // The session's own agent is not limited here, because the agent's turn already limits its calls.
    const refused = token.holder === "other" ? await refuseRate(`mcp/${session.id}`) : undefined;
    if (refused) return refused;
    const { ownerId } = session;
    return { ok: true, holder: { key: hashOf(text), holder: token.holder, ownerId, session, grant } };
  };
}

type Admission = { ok: true; holder: McpHolder } | Failure;

const hashOf = (text: string): string => createHash("sha256").update(text).digest("base64url");
