import type { IncomingMessage, ServerResponse } from "node:http";
import { isPagesHost } from "#lib/api/http/pages-host.ts";
import { securityHeaders } from "#lib/api/http/security-headers.ts";
import { PAGES_FOLDER } from "#lib/publication/landing/page-address.ts";
import { PAGE_HEADERS, type PageAnswer } from "#lib/publication/landing/page-answer.ts";
import type { PageServer } from "#lib/publication/landing/page-server.ts";
import type { Env } from "./env.ts";

type PagesDeps = { env: Pick<Env, "PUBLIC_PAGES_ORIGIN" | "baseUrl">; pages: Pick<PageServer, "answer"> };

/** A request as far as the answer for a landing page depends on it. `url` is the raw path with the query. */
type PageVisit = {
  url: string;
  method: string;
  host: string | undefined;
  header: (name: string) => string | undefined;
};

/**
 * Answers requests for landing pages: all paths below `/p/`, and all requests to the host of `PUBLIC_PAGES_ORIGIN`,
 * which serves only landing pages. Does not normalize paths, and neither reads nor sets cookies.
 *
 * @returns false for a request that is not for a landing page.
 */
export async function servePages(
  deps: PagesDeps,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  const { url = "", headers, method = "GET" } = request;
  if (!isForPages(deps.env, url, headers.host)) return false;
  // Set first, so that an error response has these headers too.
  for (const [name, value] of pageHeaders(deps.env)) response.setHeader(name, value);
  const header = (name: string) => headers[name]?.toString();
  const answer = await answerVisit(deps, { url, method, host: headers.host, header });
  response.statusCode = answer.status;
  for (const [name, value] of Object.entries(answer.headers)) response.setHeader(name, value);
  if (answer.status !== 304) response.setHeader("Content-Length", answer.body?.byteLength ?? 0);
  response.end(answer.body);
  return true;
}

/** Answers a request below `/p/` that Next has received, on serverless platforms. Next keeps the path as it was sent. */
export async function answerPageRequest(deps: PagesDeps, request: Request): Promise<Response> {
  const { pathname, search, host } = new URL(request.url);
  const header = (name: string) => request.headers.get(name) ?? undefined;
  const visit = { url: pathname + search, method: request.method, host: header("host") ?? host, header };
  const { status, headers, body } = await answerVisit(deps, visit);
  return new Response(request.method === "HEAD" || !body ? null : Buffer.from(body), {
    status,
    headers: { ...Object.fromEntries(pageHeaders(deps.env)), ...headers },
  });
}

const split = (url: string): [string, string] => {
  const at = url.indexOf("?");
  return at === -1 ? [url, ""] : [url.slice(0, at), url.slice(at)];
};

const isBelowPages = (pathname: string): boolean =>
  pathname.startsWith(PAGES_FOLDER) || `${pathname}/` === PAGES_FOLDER;

const isForPages = (env: PagesDeps["env"], url: string, host: string | undefined): boolean =>
  isBelowPages(split(url)[0]) || isPagesHost(env.PUBLIC_PAGES_ORIGIN, host);

function pageHeaders(env: PagesDeps["env"]): (readonly [string, string])[] {
  const origin = env.PUBLIC_PAGES_ORIGIN ?? env.baseUrl;
  return [...securityHeaders("landing-page", origin.startsWith("https:")), ...Object.entries(PAGE_HEADERS)];
}

async function answerVisit({ env, pages }: PagesDeps, visit: PageVisit): Promise<PageAnswer> {
  const { url, method, host, header } = visit;
  const [pathname, search] = split(url);
  if (env.PUBLIC_PAGES_ORIGIN !== undefined && !isPagesHost(env.PUBLIC_PAGES_ORIGIN, host))
    return { status: 308, headers: { Location: `${env.PUBLIC_PAGES_ORIGIN}${url}` } };
  if (method !== "GET" && method !== "HEAD") return { status: 405, headers: { Allow: "GET, HEAD" } };
  return pages.answer({
    pathname: isBelowPages(pathname) ? pathname : "",
    search,
    ifNoneMatch: header("if-none-match"),
    acceptEncoding: header("accept-encoding"),
    range: method === "GET" ? header("range") : undefined,
    ifRange: header("if-range"),
  });
}
