import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";

/**
 * The claims of a user token. Only the server at the URL `audience` accepts the token. `holder` is `agent` for the
 * session's own agent, `other` for another agent. `keyId` is the API key that requested the token (null for the
 * session's own agent); the token ends when that key is revoked. Source: specification, MCP servers, rule 2;
 * specification, Authentication, rule 6.
 */
export type UserToken = {
  sessionId: string;
  audience: string;
  holder: "agent" | "other";
  keyId: string | null;
  expiresAt: Date;
};

/** The version determines the signature algorithm, so a token cannot choose a weaker one. */
const VERSION = "ust1";
const LENGTH_MAX = 4_096;

/** Matches the user tokens in a text, so that they can be removed from the text. */
export const USER_TOKEN_PATTERN = /ust1\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+/g;

/** Whether a credential has the form of a user token. Says nothing about whether it is valid. */
export const isUserToken = (text: string): boolean => text.startsWith(`${VERSION}.`);

/** Derives a key for signing user tokens from the deployment's secret key (HKDF-SHA-256 with a label for this use). */
export const deriveUserTokenKey = (encryptionKey: Uint8Array): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", encryptionKey, "", "agent-session-service/user-token/v1", 32));

/**
 * Creates a token without white space. The expiry is rounded down to a whole second.
 *
 * @param serial distinguishes tokens with the same claims.
 */
export function mintUserToken(
  key: Uint8Array,
  token: UserToken,
  serial = randomBytes(12).toString("base64url"),
): string {
  const { sessionId, audience, holder, keyId, expiresAt } = token;
  const endsAtSeconds = Math.floor(expiresAt.getTime() / 1_000);
  const claims = JSON.stringify([sessionId, audience, holder, endsAtSeconds, serial, keyId]);
  const signed = `${VERSION}.${Buffer.from(claims).toString("base64url")}`;
  return `${signed}.${sign(key, signed)}`;
}

/**
 * Verifies a token and returns its claims. Undefined for a text that {@link mintUserToken} did not sign with this key,
 * for an expired token, for a token with another audience, and for a token of another agent that names no API key.
 *
 * @param expected.audiences the URLs under which the caller accepts tokens.
 */
export function readUserToken(
  key: Uint8Array,
  text: string,
  expected: { audiences: readonly string[]; now: Date },
): UserToken | undefined {
  if (text.length > LENGTH_MAX) return undefined;
  const [version, claims, mac, ...rest] = text.split(".");
  if (version !== VERSION || !claims || !mac || rest.length > 0) return undefined;
  // Compares the base64url texts, not the decoded bytes. Several texts decode to the same bytes, so a comparison of the
  // bytes would accept altered copies of a token.
  if (!isEqual(mac, sign(key, `${version}.${claims}`))) return undefined;
  // The cast is safe, because only mintUserToken signs with this key.
  const [sessionId, audience, holder, endsAtSeconds, , keyId = null] = JSON.parse(
    Buffer.from(claims, "base64url").toString(),
  ) as [string, string, UserToken["holder"], number, string, UserToken["keyId"]?];
  // Refuses the tokens that an earlier version created for other agents. They name no API key, so they would remain
  // valid after the revocation of the key that requested them.
  if (holder === "other" && keyId === null) return undefined;
  const expiresAt = new Date(endsAtSeconds * 1_000);
  if (expected.now >= expiresAt || !expected.audiences.includes(audience)) return undefined;
  return { sessionId, audience, holder, keyId, expiresAt };
}

const sign = (key: Uint8Array, text: string): string =>
  createHmac("sha256", key).update(text).digest("base64url");

function isEqual(left: string, right: string): boolean {
  const [leftBytes, rightBytes] = [Buffer.from(left), Buffer.from(right)];
  return leftBytes.length === rightBytes.length && timingSafeEqual(leftBytes, rightBytes);
}
