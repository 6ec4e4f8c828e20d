import { notFound } from "next/navigation";
import type { METHODS } from "../contract/paths.ts";
import { FILE_PATH, isRoutedSessionId, readFilePath } from "../contract/paths.ts";
import { fail, failureResponse } from "../http/errors.ts";
import { failureOf } from "../http/failure-of.ts";
import { isPagesHost } from "../http/pages-host.ts";
import { type AnswerKind, securityHeaders } from "../http/security-headers.ts";
import type { OpenApiDocument } from "../openapi/types.ts";
import type { PathOperations } from "../serve/serve-path.ts";
import { forEveryMethod } from "./every-method.ts";
import { findContainer } from "./find-container.ts";
import type { PageLoaders } from "./page-loaders.ts";

export type { Mounted } from "./find-container.ts";
export type { LandingPage } from "./page-loaders.ts";

type RouteContext = { params: Promise<Record<string, string | string[]> | undefined> };
type RouteHandler = (request: Request, context: RouteContext) => Promise<Response>;

/**
 * Returns the handlers of one path, one for every method. A method without an operation is answered with 405, OPTIONS
 * with 204.
 */
export function mount(operations: PathOperations): Record<(typeof METHODS)[number], RouteHandler> {
  const handle: RouteHandler = async (request, context) => {
    // Next passes no params object for a path without parameters.
    const params = toParams(request, (await context.params) ?? {});
    // For this operation, a session id in the wrong form gets Next's 404 page. Source: specification, Errors, other
    // rules, 1.
    if (operations.POST === "retargetBrowser" && !isRoutedSessionId(params.sessionId ?? "")) notFound();
    return answer(request, async () => (await findContainer()).serve(operations, request, params));
  };
  return forEveryMethod(handle);
}

/** Number of parts of a URL's path before the path of a file, with the empty one before the first slash. */
const PARTS_BEFORE_FILE = "/api/sessions/:sessionId/files".split("/").length;

/** Reads the path of a file from the URL, because Next splits it into parts. */
function toParams(request: Request, params: Record<string, string | string[]>): Record<string, string> {
  const { [FILE_PATH]: parts, ...others } = params;
  const read =
    parts === undefined
      ? {}
      : readFilePath(new URL(request.url).pathname.split("/").slice(PARTS_BEFORE_FILE));
  return { ...(others as Record<string, string>), ...(typeof read === "string" && { [FILE_PATH]: read }) };
}

/**
 * Answers a request and adds the security headers. If the service cannot be opened, answers with the error envelope.
 * Requests to the host of landing pages, which serves nothing else, get 404.
 */
async function answer(
  request: Request,
  work: () => Promise<Response>,
  kind: AnswerKind = "data",
): Promise<Response> {
  const answerOwn = async () => {
    const { pagesOrigin } = await findContainer();
    return isPagesHost(pagesOrigin, request.headers.get("host")) ? noSuchPath() : work();
  };
  return withHeaders(request, answerOwn, kind);
}

const noSuchPath = (): Response => failureResponse(fail("not_found", "no such path"));

async function withHeaders(
  request: Request,
  work: () => Promise<Response>,
  kind: AnswerKind = "data",
): Promise<Response> {
  const response = await work().catch((error: unknown) => failureResponse(failureOf(error)));
  const isHttps = new URL(request.url).protocol === "https:";
  for (const [name, value] of securityHeaders(kind, isHttps))
    if (!response.headers.has(name)) response.headers.set(name, value);
  return response;
}

/**
 * Serves `/api/inngest` on serverless platforms. In the service's own server process, these requests do not reach Next.
 */
export function mountEngine(): Record<"GET" | "POST" | "PUT", (request: Request) => Promise<Response>> {
  const handle = (request: Request) =>
    answer(request, async () => {
      const { serveEngine } = await findContainer();
      // The client's address is unknown here. Requests that only local callers may send are therefore refused.
      return serveEngine ? serveEngine(request, undefined) : new Response(null, { status: 404 });
    });
  return { GET: handle, POST: handle, PUT: handle };
}

/**
 * Serves `/api/mcp`, the built-in MCP server, for every method. The MCP server itself refuses methods that it does not
 * support.
 */
export function mountMcp(): Record<(typeof METHODS)[number], RouteHandler> {
  return forEveryMethod((request) => answer(request, async () => (await findContainer()).serveMcp(request)));
}

/** Serves `/s/:sessionId/enter`. On serverless platforms, Next's proxy rewrites share links to this path. */
export function mountShareLink(): { GET: RouteHandler } {
  const handle: RouteHandler = (request, context) =>
    answer(request, async () => {
      const sessionId = String((await context.params)?.sessionId ?? "");
      const { searchParams } = new URL(request.url);
      const rest = searchParams.get("page") ?? "";
      const link = new URL(`/s/${encodeURIComponent(sessionId)}${rest}`, request.url);
      link.searchParams.set("key", searchParams.get("key") ?? "");
      const { exchangeLinkForCookie } = await findContainer();
      const entered = await exchangeLinkForCookie(new Request(link, { headers: request.headers }));
      return entered instanceof Response ? entered : new Response(null, { status: 404 });
    });
  return { GET: handle };
}

/**
 * Serves `/login/enter`, which signs in with the token of a login link. On serverless platforms, Next's proxy rewrites
 * `POST /login` to this path, because Next allows no route at the path of a page.
 */
export function mountLogIn(): { POST: RouteHandler } {
  const handle: RouteHandler = (request) =>
    answer(request, async () => (await findContainer()).logIn(request));
  return { POST: handle };
}

/** Answers requests for the pages of answer links where no server of the service runs, such as on Vercel. */
export const mountAnswerPage = (): Record<(typeof METHODS)[number], RouteHandler> =>
  forEveryMethod((request) =>
    answer(request, async () => (await findContainer()).serveAnswerPage(request), "page"),
  );

/**
 * Serves the sign-in with the identity provider on serverless platforms. In the service's own server process, these
 * requests do not reach Next.
 */
export function mountProviderLogin(): { GET: RouteHandler } {
  const handle: RouteHandler = (request) =>
    answer(request, async () => {
      const { exchangeLinkForCookie } = await findContainer();
      const entered = await exchangeLinkForCookie(request);
      return entered instanceof Response ? entered : new Response(null, { status: 404 });
    });
  return { GET: handle };
}

/**
 * Serves landing pages on serverless platforms, for every method. Elsewhere, the service's own server answers these
 * requests before Next gets them.
 */
export const mountPages = (): Record<(typeof METHODS)[number], RouteHandler> =>
  forEveryMethod((request) => withHeaders(request, async () => (await findContainer()).servePage(request)));

/** Returns the handlers of unknown paths below `/api`. Programs get the error envelope there instead of the 404 page. */
export function mountUnknown(): Record<(typeof METHODS)[number], RouteHandler> {
  return forEveryMethod((request) => withHeaders(request, async () => noSuchPath()));
}

/** @see PageLoaders */
export const loadSessionPage: PageLoaders["loadSessionPage"] = async (...visit) =>
  (await findContainer()).loadSessionPage(...visit);

/** @see PageLoaders */
export const loadLivePage: PageLoaders["loadLivePage"] = async (sessionId, cookieHeader) =>
  (await findContainer()).loadLivePage(sessionId, cookieHeader);

/** @see PageLoaders */
export const loadReportPage: PageLoaders["loadReportPage"] = async (...visit) =>
  (await findContainer()).loadReportPage(...visit);

/** @see PageLoaders */
export const loadLandingPage: PageLoaders["loadLandingPage"] = async (cookieHeader) =>
  (await findContainer()).loadLandingPage(cookieHeader);

/** Loads the OpenAPI document of this service, for the reference page. */
export async function loadReference(): Promise<OpenApiDocument> {
  const { serve } = await findContainer();
  const request = new Request("http://service/api/openapi.json");
  const response = await serve({ GET: "readOpenApi" }, request, {});
  if (!response.ok) throw new Error(`the request for the OpenAPI document was answered ${response.status}`);
  return response.json();
}
