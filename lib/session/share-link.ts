import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { Database } from "#db/client.ts";
import { SHARE_ROLES, type ShareRole } from "#db/schema/unions.ts";
import { findShareToken, readShareRevocation } from "./share-store.ts";

/** Who a visitor of the session page is. */
export type ShareLinks = {
  /** The token of the session's own link for a role: derived, so that a replayed creation returns the same one. */
  deriveToken: (sessionId: string, revocation: number, role: ShareRole) => string;
  /** The path that lets a visitor in: `/s/<sessionId>?key=<token>`. Nobody is to be told one for more than they may do. */
  sharePath: (sessionId: string, revocation: number, role: ShareRole) => string;
  /** The role a token gives in a session; undefined for a wrong, revoked or expired one and for an unknown session. */
  readRole: (sessionId: string, token: string) => Promise<ShareRole | undefined>;
};

/** @param key the deployment's secret key; the tokens' own key is derived from it. */
export function createShareLinks(db: Database, key: Uint8Array): ShareLinks {
  const tokenKey = createHmac("sha256", key).update("share-link/v1").digest();
  const deriveToken = (sessionId: string, revocation: number, role: ShareRole) => {
    const named = `${sessionId}.${revocation}${role === "drive" ? "" : `.${role}`}`;
    return createHmac("sha256", tokenKey).update(named).digest("base64url").slice(0, 32);
  };
  return {
    deriveToken,
    sharePath: (sessionId, revocation, role) =>
      `/s/${sessionId}?key=${deriveToken(sessionId, revocation, role)}`,
    async readRole(sessionId, token) {
      const revocation = await readShareRevocation(db, sessionId);
      if (revocation === undefined) return undefined;
      const own = SHARE_ROLES.find((role) => isEqual(token, deriveToken(sessionId, revocation, role)));
      return own ?? findShareToken(db, sessionId, hashToken(token), new Date());
    },
  };
}

/** SHA-256 (hex) of a share token: all that is kept of it. */
export const hashToken = (token: string): string => createHash("sha256").update(token).digest("hex");

/** Compares in constant time; the hashes make the lengths equal. */
const isEqual = (left: string, right: string) =>
  timingSafeEqual(Buffer.from(hashToken(left)), Buffer.from(hashToken(right)));
