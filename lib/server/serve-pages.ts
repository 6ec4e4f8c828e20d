import type { IncomingMessage, ServerResponse } from "node:http";
import { securityHeaders } from "#lib/api/http/security-headers.ts";
import { canonicalHostname } from "#lib/net/address/network-allow.ts";
import { PAGES_FOLDER } from "#lib/publication/landing/page-address.ts";
import { PAGE_HEADERS } from "#lib/publication/landing/page-answer.ts";
import type { PageServer } from "#lib/publication/landing/page-server.ts";
import type { Env } from "./env.ts";

/** Whether a `Host` header names the host of `PUBLIC_PAGES_ORIGIN`. */
export function isPagesHost(
  { PUBLIC_PAGES_ORIGIN: origin }: Pick<Env, "PUBLIC_PAGES_ORIGIN">,
  host: string | undefined,
): boolean {
  if (origin === undefined || host === undefined) return false;
  const own = new URL(origin);
  const requested = URL.parse(`${own.protocol}//${host}`);
  if (!requested) return false;
  return (
    requested.port === own.port && canonicalHostname(requested.hostname) === canonicalHostname(own.hostname)
  );
}

/**
 * Answers requests for landing pages: all paths below `/p/`, and all requests to the host of `PUBLIC_PAGES_ORIGIN`,
 * which serves only landing pages. Does not normalize paths, and neither reads nor sets cookies.
 *
 * @returns false for a request that is not for a landing page.
 */
export async function servePages(
  { env, pages }: { env: Pick<Env, "PUBLIC_PAGES_ORIGIN" | "baseUrl">; pages: Pick<PageServer, "answer"> },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  const { url = "", headers, method = "GET" } = request;
  const at = url.indexOf("?");
  const [pathname, search] = at === -1 ? [url, ""] : [url.slice(0, at), url.slice(at)];
  const isBelow = pathname.startsWith(PAGES_FOLDER) || `${pathname}/` === PAGES_FOLDER;
  const isOnPagesHost = isPagesHost(env, headers.host);
  if (!isBelow && !isOnPagesHost) return false;
  // Set first, so that an error response has these headers too.
  const origin = env.PUBLIC_PAGES_ORIGIN ?? env.baseUrl;
  for (const [name, value] of securityHeaders("landing-page", origin.startsWith("https:")))
    response.setHeader(name, value);
  for (const [name, value] of Object.entries(PAGE_HEADERS)) response.setHeader(name, value);
  if (env.PUBLIC_PAGES_ORIGIN !== undefined && !isOnPagesHost)
    return end(response, 308, { Location: `${env.PUBLIC_PAGES_ORIGIN}${url}` });
  if (method !== "GET" && method !== "HEAD") return end(response, 405, { Allow: "GET, HEAD" });
  const answer = await pages.answer({
    pathname: isBelow ? pathname : "",
    search,
    ifNoneMatch: headers["if-none-match"],
    acceptEncoding: headers["accept-encoding"]?.toString(),
    range: method === "GET" ? headers.range : undefined,
    ifRange: headers["if-range"]?.toString(),
  });
  return end(response, answer.status, answer.headers, answer.body);
}

function end(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body?: Uint8Array,
): true {
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (status !== 304) response.setHeader("Content-Length", body?.byteLength ?? 0);
  response.end(body);
  return true;
}
