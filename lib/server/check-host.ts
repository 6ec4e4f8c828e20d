import type { IncomingMessage } from "node:http";
import { isOwnHost } from "#lib/api/http/same-origin.ts";
import { canonicalHostname } from "#lib/net/address/network-allow.ts";
import type { Env } from "./env.ts";
import { isPagesHost } from "./serve-pages.ts";

/**
 * What the `Host` of a request says: `own` for this service, `pages` for the host of `PUBLIC_PAGES_ORIGIN`, `foreign` for
 * any other name, and `invalid` for a request that has no `Host`, several ones, or one that is no host or contradicts the
 * address.
 */
export type HostVerdict = "own" | "pages" | "foreign" | "invalid";

/** A name or an address with or without a port, and nothing else that a URL could have. */
const HOST = /^(?:[\w.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/**
 * Creates the check of `Host`. A request with an absolute address (`GET http://host/path`) becomes one with its path.
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
    if (host === undefined || !HOST.test(host) || !takePath(request, host)) return "invalid";
    if (host === lastOwn) return "own";
    if (isPagesHost(env, host)) return "pages";
    // Commands and browsers on this machine use the own origin.
    const isOwn = isOwnHost(host, env.baseUrl) || isOwnHost(host, env.ownOrigin) || isAllowed(host);
    if (isOwn) lastOwn = host;
    return isOwn ? "own" : "foreign";
  };
}

/** The one `Host`; undefined for none and for several. Node's parsed headers have the first one only. */
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

/** Turns an absolute address into its path. @returns false if the address names another host than `Host`. */
function takePath(request: IncomingMessage, host: string): boolean {
  const [, protocol, authority, rest = ""] = /^(https?:)\/\/([^/?#]*)(.*)$/is.exec(request.url ?? "") ?? [];
  if (protocol === undefined || authority === undefined) return true;
  const [named, own] = [URL.parse(`${protocol}//${authority}`), URL.parse(`${protocol}//${host}`)];
  if (!HOST.test(authority) || named?.host !== own?.host) return false;
  request.url = rest.startsWith("/") ? rest : `/${rest}`;
  return true;
}
