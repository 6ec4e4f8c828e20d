import { notFound } from "next/navigation";
import type { METHODS } from "../contract/paths.ts";
import { isRoutedSessionId } from "../contract/paths.ts";
import { fail, failureResponse } from "../http/errors.ts";
import { failureOf } from "../http/failure-of.ts";
import { securityHeaders } from "../http/security-headers.ts";
import type { PathOperations } from "../http/serve-path.ts";
import type { OpenApiDocument } from "../openapi/types.ts";
import { findContainer } from "./find-container.ts";
import type { PageLoaders } from "./page-loaders.ts";

export type { Mounted } from "./find-container.ts";
export type { LandingPage } from "./page-loaders.ts";

type RouteContext = { params: Promise<Record<string, string> | undefined> };
type RouteHandler = (request: Request, context: RouteContext) => Promise<Response>;

/** The handlers of one path, for every method: those without an operation are refused with the contract's own 405. */
export function mount(operations: PathOperations): Record<(typeof METHODS)[number], RouteHandler> {
  const handle: RouteHandler = async (request, context) => {
    // Next gives a path without parameters none at all.
    const params = (await context.params) ?? {};
    // Source: specification, Errors, other rules, 1: such an id is not ours to answer.
    if (operations.POST === "retargetBrowser" && !isRoutedSessionId(params.sessionId ?? "")) notFound();
    return answer(request, async () => (await findContainer()).serve(operations, request, params));
  };
  return forEveryMethod(handle);
}

/** A service that cannot be opened is our fault, and told in the interface's own words. */
async function answer(request: Request, work: () => Promise<Response>): Promise<Response> {
  const response = await work().catch((error: unknown) => failureResponse(failureOf(error)));
  const isHttps = new URL(request.url).protocol === "https:";
  for (const [name, value] of securityHeaders("data", isHttps))
    if (!response.headers.has(name)) response.headers.set(name, value);
  return response;
}

/** `/api/inngest`, where the pages are served without our own process; that one answers it by itself. */
export function mountEngine(): Record<"GET" | "POST" | "PUT", (request: Request) => Promise<Response>> {
  const handle = (request: Request) =>
    answer(request, async () => {
      const { serveEngine } = await findContainer();
      // Whose request it is nobody knows here: what only this machine may ask is not answered.
      return serveEngine ? serveEngine(request, undefined) : new Response(null, { status: 404 });
    });
  return { GET: handle, POST: handle, PUT: handle };
}

/** `/api/mcp`, the built-in MCP server; which methods it answers is its protocol's business. */
export function mountMcp(): Record<(typeof METHODS)[number], RouteHandler> {
  return forEveryMethod((request) => answer(request, async () => (await findContainer()).serveMcp(request)));
}

/** `/s/:sessionId/enter`, where a share link leads that our own process does not see. */
export function mountEntrance(): { GET: RouteHandler } {
  const handle: RouteHandler = (request, context) =>
    answer(request, async () => {
      const { sessionId = "" } = (await context.params) ?? {};
      const { searchParams } = new URL(request.url);
      const rest = searchParams.get("page") ?? "";
      const link = new URL(`/s/${encodeURIComponent(sessionId)}${rest}`, request.url);
      link.searchParams.set("key", searchParams.get("key") ?? "");
      const { enterByLink } = await findContainer();
      const entered = await enterByLink(new Request(link, { headers: request.headers }));
      return entered instanceof Response ? entered : new Response(null, { status: 404 });
    });
  return { GET: handle };
}

/**
 * `/login` and the addresses below it, where a login link or the identity provider leads; our own process serves them
 * before Next.
 */
export function mountLogin(): { GET: RouteHandler } {
  const handle: RouteHandler = (request) =>
    answer(request, async () => {
      const { enterByLink } = await findContainer();
      const entered = await enterByLink(request);
      return entered instanceof Response ? entered : new Response(null, { status: 404 });
    });
  return { GET: handle };
}

/** The handlers of paths below `/api` that nothing stands at: programs get an envelope there, not a page. */
export function mountUnknown(): Record<(typeof METHODS)[number], RouteHandler> {
  return forEveryMethod((request) =>
    answer(request, async () => failureResponse(fail("not_found", "no such path"))),
  );
}

function forEveryMethod(handle: RouteHandler): Record<(typeof METHODS)[number], RouteHandler> {
  return {
    GET: handle,
    HEAD: handle,
    POST: handle,
    PUT: handle,
    PATCH: handle,
    DELETE: handle,
    OPTIONS: handle,
  };
}

/** The session, or a sub-agent below it, as the holder of this cookie may see it; undefined without access. */
export const loadSessionPage: PageLoaders["loadSessionPage"] = async (...visit) =>
  (await findContainer()).loadSessionPage(...visit);

/** The session's live view as the holder of this cookie may see it, undefined without access. */
export const loadLivePage: PageLoaders["loadLivePage"] = async (sessionId, cookieHeader) =>
  (await findContainer()).loadLivePage(sessionId, cookieHeader);

/** A report of the session as the holder of this cookie may see it; undefined without access. */
export const loadReportPage: PageLoaders["loadReportPage"] = async (...visit) =>
  (await findContainer()).loadReportPage(...visit);

/** The landing page as the holder of this cookie may see it. */
export const loadLandingPage: PageLoaders["loadLandingPage"] = async (cookieHeader) =>
  (await findContainer()).loadLandingPage(cookieHeader);

/** The document of this service, for the reference page. */
export async function loadReference(): Promise<OpenApiDocument> {
  const { serve } = await findContainer();
  const asked = new Request("http://service/api/openapi.json");
  const response = await serve({ GET: "readOpenApi" }, asked, {});
  if (!response.ok) throw new Error(`the document was answered with ${response.status}`);
  return response.json();
}
