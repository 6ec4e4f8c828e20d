import { type NextRequest, NextResponse } from "next/server";
import { makePagePolicy } from "#lib/api/http/page-policy.ts";
import { answerKindOf, securityHeaders } from "#lib/api/http/security-headers.ts";
import { isServedByOwnProcess } from "#lib/api/next/find-container.ts";

/**
 * Does what the service's own server process does before Next serves a page, on platforms without such a process: it
 * rewrites links that contain a secret to the route that handles the secret, and sets the security headers of pages. Next
 * requires this file at the root. Source: decision 005.
 */
export function proxy(request: NextRequest): NextResponse {
  if (isServedByOwnProcess()) return NextResponse.next();
  const { pathname, searchParams } = request.nextUrl;
  const [, sessionId, rest] =
    /^\/s\/([^/]+)(\/live|\/agents\/[^/]+|\/reports\/[^/]+)?\/?$/.exec(pathname) ?? [];
  const key = searchParams.get("key");
  if (sessionId !== undefined && key !== null) {
    const enterUrl = new URL(`/s/${sessionId}/enter`, request.url);
    enterUrl.searchParams.set("key", key);
    if (rest) enterUrl.searchParams.set("page", rest);
    return NextResponse.rewrite(enterUrl);
  }
  // The routes of operations set their own headers.
  if (OPERATION.test(pathname)) return NextResponse.next();
  const { policy, nonce } = makePagePolicy(request.nextUrl, false);
  const headers = new Headers(request.headers);
  if (nonce !== undefined) {
    // Next reads the nonce from the request and adds it to its own scripts.
    headers.set("content-security-policy", policy);
    headers.set("x-nonce", nonce);
  }
  const response = NextResponse.next({ request: { headers } });
  const isHttps = request.nextUrl.protocol === "https:";
  for (const [name, value] of securityHeaders(answerKindOf(pathname), isHttps))
    response.headers.set(name, value);
  response.headers.set("Content-Security-Policy", policy);
  return response;
}

/** Matches paths below the page of a session or of a sub-agent that belong to operations, not to pages. */
const OPERATION = /^\/s\/[^/]+\/(actions\/|enter$|agents\/[^/]+\/)/;

/** Next calls `proxy` only for these paths, which are those of pages. */
export const config = { matcher: ["/", "/s/:path*", "/demo/:path*", "/docs"] };
