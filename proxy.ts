import { type NextRequest, NextResponse } from "next/server";
import { makePagePolicy } from "#lib/api/http/page-policy.ts";
import { answerKindOf, securityHeaders } from "#lib/api/http/security-headers.ts";
import { isServedByOwnProcess } from "#lib/api/next/find-container.ts";

/**
 * What our own server process does before Next sees a page, for where there is none: links that carry a secret go to
 * their own route, and pages get their security headers. Next requires this file at the root. Source: decision 005.
 */
export function proxy(request: NextRequest): NextResponse {
  if (isServedByOwnProcess()) return NextResponse.next();
  const { pathname, searchParams } = request.nextUrl;
  const [, sessionId, rest] =
    /^\/s\/([^/]+)(\/live|\/agents\/[^/]+|\/reports\/[^/]+)?\/?$/.exec(pathname) ?? [];
  const key = searchParams.get("key");
  if (sessionId !== undefined && key !== null) {
    const entrance = new URL(`/s/${sessionId}/enter`, request.url);
    entrance.searchParams.set("key", key);
    if (rest) entrance.searchParams.set("page", rest);
    return NextResponse.rewrite(entrance);
  }
  // The routes of operations set their own headers.
  if (OPERATION.test(pathname)) return NextResponse.next();
  const { policy, nonce } = makePagePolicy(request.nextUrl, false);
  const headers = new Headers(request.headers);
  if (nonce !== undefined) {
    // Next reads the nonce from the request, and puts it on its own scripts.
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

/** What is below the page of a session or of a sub-agent, and no page itself. */
const OPERATION = /^\/s\/[^/]+\/(actions\/|enter$|agents\/[^/]+\/)/;

/** Pages, and no data. */
export const config = { matcher: ["/", "/s/:path*", "/demo/:path*", "/docs"] };
