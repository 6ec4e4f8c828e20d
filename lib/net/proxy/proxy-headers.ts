import { createHash, timingSafeEqual } from "node:crypto";

/** The header by which the proxy says that the guard refused a request. */
export const refusedHeader = "x-network-refused";
/** The header by which the proxy says that a request was allowed, and its server could not be reached. */
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
 * Copies raw headers (name, value, name, value …) without those that belong to one connection (RFC 9110, 7.6.1),
 * those in `without` (lower case), and the proxy's own, which no server may forge.
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

/** Who may use the proxy: one user, or with no `username` anybody with the password (the name then says who). */
export type ProxyCredentials = { username?: string; password: string };

/**
 * Reads a `Proxy-Authorization` value (Basic) and answers the user's name when it is right, or undefined.
 * Compares in constant time.
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
