import { notFound } from "next/navigation";
import { fail, failureResponse } from "./errors.ts";
import type { LiveHub } from "./live/open-live.ts";
import type { METHODS } from "./methods.ts";
import type { PageLoaders } from "./pages/page-loaders.ts";
import { isRoutedSessionId } from "./paths.ts";
import type { PathOperations } from "./serve.ts";

export type { LandingPage } from "./pages/page-loaders.ts";

/** What the server process offers to Next's routes; the two module graphs share this object and nothing else. */
export type Mounted = PageLoaders & {
  serve: (operations: PathOperations, request: Request, params: Record<string, string>) => Promise<Response>;
  openLive: LiveHub["openLive"];
  /** `/api/inngest`, where a real server drives the functions; undefined with the embedded engine. */
  serveEngine: ((request: Request, peer: string | undefined) => Promise<Response>) | undefined;
};

const CONTAINER = Symbol.for("agent-session-service");

function container(): Mounted {
  const found = (globalThis as { [CONTAINER]?: Mounted })[CONTAINER];
  if (!found) throw new Error("the service's container is missing: pages are served by lib/server/main.ts");
  return found;
}

type RouteContext = { params: Promise<Record<string, string> | undefined> };
type RouteHandler = (request: Request, context: RouteContext) => Promise<Response>;

/** The handlers of one path, for every method: those without an operation are refused with the contract's own 405. */
export function mount(operations: PathOperations): Record<(typeof METHODS)[number], RouteHandler> {
  const handle: RouteHandler = async (request, context) => {
    // Next gives a path without parameters none at all.
    const params = (await context.params) ?? {};
    // Source: specification, Errors, other rules, 1: such an id is not ours to answer.
    if (operations.POST === "retargetBrowser" && !isRoutedSessionId(params.sessionId ?? "")) notFound();
    return container().serve(operations, request, params);
  };
  return forEveryMethod(handle);
}

/** The handlers of paths below `/api` that nothing stands at: programs get an envelope there, not a page. */
export function mountUnknown(): Record<(typeof METHODS)[number], RouteHandler> {
  return forEveryMethod(async () => failureResponse(fail("not_found", "no such path")));
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

/** The session as the holder of this cookie may see it; undefined where there is none, or none for them. */
export const loadSessionPage: PageLoaders["loadSessionPage"] = (sessionId, cookieHeader) =>
  container().loadSessionPage(sessionId, cookieHeader);

/** The landing page as the holder of this cookie may see it. */
export const loadLandingPage: PageLoaders["loadLandingPage"] = (cookieHeader) =>
  container().loadLandingPage(cookieHeader);
