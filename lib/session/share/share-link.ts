import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { Database } from "#db/client.ts";
import { SHARE_ROLES, type ShareRole } from "#db/schema/unions.ts";
import { findShare } from "../store/share-store.ts";

/** The access that a valid share token grants. */
export type ShareAccess = {
  role: ShareRole;
  /** Whether the token opens the whole session, or only its live view (`liveViewUrl`). */
  scope: "session" | "live-view";
  /** The link that was created with this token; null for a token derived from the session itself. */
  linkId: string | null;
  /** The session's revocation counter when the token was checked. */
  revocation: number;
  expiresAt: Date | null;
  /** What the link is called. Null for a token derived from the session, and for a link without a label. */
  label: string | null;
  /** Origins whose pages may show this link in a frame; null for all origins that the deployment allows. */
  embedOrigins: readonly string[] | null;
};

/** Share tokens, which let people open a session's page. */
export type ShareLinks = {
  /**
   * Derives the token of a session's own link for a role. The token is not random, so that a repeated request to create
   * the session returns the same token.
   */
  deriveToken: (sessionId: string, revocation: number, role: ShareRole) => string;
  /**
   * Returns the session's own link for a role: `/s/<sessionId>?key=<token>`. Show it only to callers with at least this
   * role.
   */
  sharePath: (sessionId: string, revocation: number, role: ShareRole) => string;
  /** Returns the link to the page of a sub-agent of the session: `/s/<sessionId>/agents/<agentId>?key=<token>`. */
  agentPath: (sessionId: string, revocation: number, role: ShareRole, agentId: string) => string;
  /**
   * Returns the read-only link to the live view: `/s/<sessionId>/live?key=<token>`. The link changes only if all links
   * of the session are revoked, or if the deployment gets another key.
   */
  liveViewPath: (sessionId: string, revocation: number) => string;
  /** Checks a token of a session; undefined for a wrong, revoked or expired token and for an unknown session. */
  readAccess: (sessionId: string, token: string) => Promise<ShareAccess | undefined>;
};

/**
 * Creates the share tokens of a deployment.
 *
 * @param key the deployment's secret key, from which the key of the tokens is derived.
 * @param previous keys whose tokens are still accepted (`ENCRYPTION_KEY_PREVIOUS`); no new token is derived from them.
 */
export function createShareLinks(
  db: Database,
  key: Uint8Array,
  previous: readonly Uint8Array[] = [],
): ShareLinks {
  const deriveKey = (each: Uint8Array) => createHmac("sha256", each).update("share-link/v1").digest();
  const tokenKey = deriveKey(key);
  const acceptedKeys = [tokenKey, ...previous.map(deriveKey)];
  const derive = (
    sessionId: string,
    revocation: number,
    purpose: ShareRole | "live-view",
    by: Buffer = tokenKey,
  ) => {
    const message = `${sessionId}.${revocation}${purpose === "drive" ? "" : `.${purpose}`}`;
    return createHmac("sha256", by).update(message).digest("base64url").slice(0, 32);
  };
  return {
    deriveToken: (sessionId, revocation, role) => derive(sessionId, revocation, role),
    sharePath: (sessionId, revocation, role) => linkPath(sessionId, derive(sessionId, revocation, role)),
    agentPath: (sessionId, revocation, role, agentId) =>
      `/s/${sessionId}/agents/${agentId}?key=${derive(sessionId, revocation, role)}`,
    liveViewPath: (sessionId, revocation) =>
      `/s/${sessionId}/live?key=${derive(sessionId, revocation, "live-view")}`,
    async readAccess(sessionId, token) {
      const found = await findShare(db, sessionId, hashToken(token), new Date());
      if (!found) return undefined;
      const { revocation, link } = found;
      const derived = { linkId: null, revocation, expiresAt: null, label: null, embedOrigins: null };
      const isDerived = (purpose: ShareRole | "live-view") =>
        acceptedKeys.some((by) => isEqual(token, derive(sessionId, revocation, purpose, by)));
      const role = SHARE_ROLES.find(isDerived);
      if (role) return { ...derived, role, scope: "session" };
      if (isDerived("live-view")) return { ...derived, role: "view", scope: "live-view" };
      if (!link) return undefined;
      return {
        role: link.role,
        scope: "session",
        linkId: link.id,
        revocation,
        expiresAt: link.expiresAt,
        label: link.label,
        embedOrigins: link.embedOrigins,
      };
    },
  };
}

/** Returns the path of a share link. The page exchanges the token for a cookie. */
export const linkPath = (sessionId: string, token: string): string => `/s/${sessionId}?key=${token}`;

/** Returns the SHA-256 (hex) of a share token. The database stores only this hash, not the token. */
export const hashToken = (token: string): string => createHash("sha256").update(token).digest("hex");

/** Compares two texts in constant time. It compares their hashes, because `timingSafeEqual` needs equal lengths. */
const isEqual = (left: string, right: string) =>
  timingSafeEqual(Buffer.from(hashToken(left)), Buffer.from(hashToken(right)));
