import { type NextRequest, NextResponse } from "next/server";
import { filterPageQuery, makePagePolicy, makeStaticPolicy } from "#lib/api/http/page-policy.ts";
import { isPagesHost } from "#lib/api/http/pages-host.ts";
import { answerKindOf, isDemo, securityHeaders } from "#lib/api/http/security-headers.ts";
import { isServedByOwnProcess } from "#lib/api/next/find-container.ts";

/**
 * Next calls this function before it serves a page, and requires this file at the root. If the service has its own
 * server process, the function does nothing, because that process does the same work. On other platforms, the function
 * passes a request with the secret of a link to the route that handles the secret, and sets the security headers of
 * pages.
 * Source: decision 005.
 */
export function proxy(request: NextRequest): NextResponse {
  if (isServedByOwnProcess()) return NextResponse.next();
  // All other paths are refused by the routes (`lib/api/next/mount.ts`).
  if (isPagesHost(process.env.PUBLIC_PAGES_ORIGIN, request.headers.get("host"))) return refuse(request);
  const { pathname, searchParams } = request.nextUrl;
  if (pathname === "/login" && request.method === "POST")
    return NextResponse.rewrite(new URL("/login/enter", request.url));
  const [, sessionId, rest] =
    /^\/s\/([^/]+)(\/live|\/agents\/[^/]+|\/reports\/[^/]+)?\/?$/.exec(pathname) ?? [];
  const key = searchParams.get("key");
  if (sessionId !== undefined && key !== null) {
    const enterUrl = new URL(`/s/${sessionId}/enter`, request.url);
    enterUrl.searchParams.set("key", key);
    if (rest) enterUrl.searchParams.set("page", rest);
    return NextResponse.rewrite(enterUrl);
  }
  // The routes of operations set their own headers, so none are set here.
  if (OPERATION.test(pathname)) return NextResponse.next();
  const headers = new Headers(request.headers);
  const policy = pathname === "/docs" ? prepareReference(headers) : preparePage(request, headers);
  const url = request.nextUrl.clone();
  if (!isDemo(pathname)) url.search = filterPageQuery(searchParams);
  const response =
    url.search === request.nextUrl.search
      ? NextResponse.next({ request: { headers } })
      : NextResponse.rewrite(url, { request: { headers } });
  const isHttps = request.nextUrl.protocol === "https:";
  for (const [name, value] of securityHeaders(answerKindOf(pathname), isHttps))
    response.headers.set(name, value);
  response.headers.set("Content-Security-Policy", policy);
  return response;
}

/** Answers a request to the host of landing pages, which serves nothing else. */
function refuse(request: NextRequest): NextResponse {
  const headers = Object.fromEntries(securityHeaders("data", request.nextUrl.protocol === "https:"));
  return new NextResponse(null, { status: 404, headers });
}

/** Prepares a request for a page. @returns the policy of the page. */
function preparePage(request: NextRequest, headers: Headers): string {
  const embedOrigins = (process.env.EMBED_ORIGINS ?? "").split(",").map((origin) => origin.trim());
  const { policy, nonce } = makePagePolicy(request.nextUrl, false, embedOrigins.filter(Boolean));
  if (nonce === undefined) return policy;
  // Next reads the nonce from these request headers and adds it to its own scripts.
  headers.set("content-security-policy", policy);
  headers.set("x-nonce", nonce);
  return policy;
}

/**
 * Prepares a request for the API reference, which the platform's CDN caches (see `next.config.ts`). It must not depend
 * on cookies, and has neither a nonce nor scripts: it is complete without them. @returns the policy of the page.
 */
function prepareReference(headers: Headers): string {
  headers.delete("cookie");
  return makeStaticPolicy("none");
}

/** Matches the paths below the page of a session or of a sub-agent that are operations, not pages. */
const OPERATION = /^\/s\/[^/]+\/(actions\/|enter$|agents\/[^/]+\/)/;

/** Next calls `proxy` only for these paths, which include all pages. */
export const config = { matcher: ["/", "/login", "/s/:path*", "/embed/:path*", "/demo/:path*", "/docs"] };
