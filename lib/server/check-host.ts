import type { IncomingMessage } from "node:http";
import { isPagesHost } from "#lib/api/http/pages-host.ts";
import { isOwnHost } from "#lib/api/http/same-origin.ts";
import { canonicalHostname } from "#lib/net/address/network-allow.ts";
import type { Env } from "./env.ts";

/**
 * Result of checking the `Host` of a request: `own` for a name of this service, `pages` for the host of
 * `PUBLIC_PAGES_ORIGIN`, `foreign` for any other name. `invalid` if `Host` is missing, repeated or malformed, or if it
 * contradicts the request's URL.
 */
export type HostVerdict = "own" | "pages" | "foreign" | "invalid";

/** Matches a host name or IP address with an optional port, but no other part of a URL, such as a user or a path. */
const HOST = /^(?:[\w.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/**
 * Creates the check of `Host`. It also rewrites an absolute request URL (`GET http://host/path`) to its path.
 * Source: decision 053.
 */
export function createHostCheck(
  env: Pick<Env, "baseUrl" | "ownOrigin" | "ALLOWED_HOSTS" | "PUBLIC_PAGES_ORIGIN">,
): (request: IncomingMessage) => HostVerdict {
  const isAllowed = (host: string): boolean => {
    const name = canonicalHostname(host);
    return env.ALLOWED_HOSTS.some((allowed) => allowed === name || allowed === name.replace(/:\d+$/, ""));
  };
  let lastOwn: string | undefined;
  return (request) => {
    const host = readHost(request.rawHeaders);
    if (host === undefined || !HOST.test(host) || !rewriteToPath(request, host)) return "invalid";
    if (host === lastOwn) return "own";
    if (isPagesHost(env.PUBLIC_PAGES_ORIGIN, host)) return "pages";
    // `ownOrigin` is accepted, because commands and browsers on this machine use it.
    const isOwn = isOwnHost(host, env.baseUrl) || isOwnHost(host, env.ownOrigin) || isAllowed(host);
    if (isOwn) lastOwn = host;
    return isOwn ? "own" : "foreign";
  };
}

/**
 * Returns the value of the `Host` header; undefined if there is none or more than one. Reads the raw headers, because
 * Node's parsed headers contain only the first `Host`.
 */
function readHost(rawHeaders: readonly string[]): string | undefined {
  let host: string | undefined;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? "";
    if (name.length !== 4 || name.toLowerCase() !== "host") continue;
    if (host !== undefined) return undefined;
    host = rawHeaders[index + 1] ?? "";
  }
  return host;
}

/**
 * Rewrites an absolute request URL to its path. @returns false if the host in the URL is malformed or differs from
 * `Host`.
 */
function rewriteToPath(request: IncomingMessage, host: string): boolean {
  const [, protocol, authority, rest = ""] = /^(https?:)\/\/([^/?#]*)(.*)$/is.exec(request.url ?? "") ?? [];
  if (protocol === undefined || authority === undefined) return true;
  const [requested, expected] = [URL.parse(`${protocol}//${authority}`), URL.parse(`${protocol}//${host}`)];
  if (!HOST.test(authority) || requested?.host !== expected?.host) return false;
  request.url = rest.startsWith("/") ? rest : `/${rest}`;
  return true;
}
