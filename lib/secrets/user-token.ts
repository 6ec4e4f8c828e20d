import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";

/**
 * The claims of a session's own user token: its session, the one URL it is for, its holder (the session's own agent, or
 * another agent), the API key that it was minted with and ends with (null for the session's own agent), and its expiry.
 * Source: specification, MCP servers, rule 2; specification, Authentication, rule 6.
 */
export type UserToken = {
  sessionId: string;
  audience: string;
  holder: "agent" | "other";
  keyId: string | null;
  expiresAt: Date;
};

/** The version names the one algorithm there is: no token can choose another. */
const VERSION = "ust1";
const LENGTH_MAX = 4_096;

/** Finds user tokens in a text, to take them out of it. */
export const USER_TOKEN_PATTERN = /ust1\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+/g;

/** The key of user tokens, derived (HKDF-SHA-256 with a label of its own) from the deployment's secret key. */
export const deriveUserTokenKey = (encryptionKey: Uint8Array): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", encryptionKey, "", "agent-session-service/user-token/v1", 32));

/**
 * Writes a token as one printable word; whole seconds of its end are kept.
 *
 * @param serial tells tokens apart that say the same.
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
 * Reads a token that {@link mintUserToken} wrote with this key; undefined for any other text, for a token that has ended
 * and for one that is meant for somewhere else.
 *
 * @param expected.audiences the URLs that the reader is known by.
 */
export function readUserToken(
  key: Uint8Array,
  text: string,
  expected: { audiences: readonly string[]; now: Date },
): UserToken | undefined {
  if (text.length > LENGTH_MAX) return undefined;
  const [version, claims, mac, ...rest] = text.split(".");
  if (version !== VERSION || !claims || !mac || rest.length > 0) return undefined;
  // The text is compared, not the bytes it stands for, so that each token has one spelling.
  if (!isEqual(mac, sign(key, `${version}.${claims}`))) return undefined;
  // Only mintUserToken signs with this key.
  const [sessionId, audience, holder, endsAtSeconds, , keyId = null] = JSON.parse(
    Buffer.from(claims, "base64url").toString(),
  ) as [string, string, UserToken["holder"], number, string, UserToken["keyId"]?];
  // Tokens of an earlier version name no key, so that nothing could end them with it.
  if (holder === "other" && keyId === null) return undefined;
  const expiresAt = new Date(endsAtSeconds * 1_000);
  if (expected.now >= expiresAt || !expected.audiences.includes(audience)) return undefined;
  return { sessionId, audience, holder, keyId, expiresAt };
}

const sign = (key: Uint8Array, text: string): string =>
  createHmac("sha256", key).update(text).digest("base64url");

function isEqual(left: string, right: string): boolean {
  const [given, own] = [Buffer.from(left), Buffer.from(right)];
  return given.length === own.length && timingSafeEqual(given, own);
}
