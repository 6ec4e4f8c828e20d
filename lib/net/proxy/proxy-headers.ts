import { createHash, timingSafeEqual } from "node:crypto";

/** The response header that the proxy sends when the guard refused the request. */
export const refusedHeader = "x-network-refused";
/** The response header that the proxy sends when the request was allowed, but its server could not be reached. */
export const FAILED_HEADER = "x-network-failed";

const HOP_BY_HOP = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/**
 * Copies raw headers (name, value, name, value …). Omits hop-by-hop headers (RFC 9110, 7.6.1), the headers named in
 * `without` (lower case), and the proxy's own headers, which servers must not be able to forge.
 */
export function endToEndHeaders(rawHeaders: string[], without: string[] = []): string[] {
  const dropped = new Set([...HOP_BY_HOP, ...without, refusedHeader, FAILED_HEADER]);
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = "", value = ""] = rawHeaders.slice(at, at + 2);
    if (name.toLowerCase() === "connection") {
      for (const each of value.split(",")) dropped.add(each.trim().toLowerCase());
    }
    pairs.push([name, value]);
  }
  return pairs.filter(([name]) => !dropped.has(name.toLowerCase())).flat();
}

/**
 * The credentials that clients of the proxy need. Without a `username`, any user name is accepted with the password.
 */
export type ProxyCredentials = { username?: string; password: string };

/**
 * Checks the value of a `Proxy-Authorization` header (Basic) in constant time. Returns the user name, or undefined if
 * the credentials are missing or wrong.
 */
export function readProxyUser(header: string | undefined, credentials: ProxyCredentials): string | undefined {
  const encoded = /^basic\s+([a-z0-9+/=]+)$/i.exec(header ?? "")?.[1];
  if (encoded === undefined) return undefined;
  const [username = "", ...rest] = Buffer.from(encoded, "base64").toString("utf8").split(":");
  const isPassword = isEqual(rest.join(":"), credentials.password);
  const isUser = credentials.username === undefined || isEqual(username, credentials.username);
  return isPassword && isUser ? username : undefined;
}

function isEqual(a: string, b: string): boolean {
  const [left, right] = [a, b].map((text) => createHash("sha256").update(text).digest());
  return left !== undefined && right !== undefined && timingSafeEqual(left, right);
}
