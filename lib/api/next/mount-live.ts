import type { Upgrade } from "../live/live-hub.ts";
import { forEveryMethod } from "./every-method.ts";
import { findContainer } from "./find-container.ts";

type RouteContext = { params: Promise<{ sessionId: string; agentId?: string }> };

const REQUEST_CONTEXT = Symbol.for("@vercel/request-context");

type Globals = { [REQUEST_CONTEXT]?: { get?: () => { upgradeWebSocket?: Upgrade } | undefined } };

/**
 * Serves a session's live socket on Vercel. Vercel's request context upgrades the connection and then ignores the
 * response. In the service's own server process, these requests do not reach Next.
 */
export function mountLive() {
  const handle = async (request: Request, context: RouteContext): Promise<Response> => {
    const target = await context.params;
    const { upgradeToWebSocket } = await findContainer();
    const requestContext = (globalThis as Globals)[REQUEST_CONTEXT]?.get?.();
    const refusal = await upgradeToWebSocket(request, target, () => {
      if (!requestContext?.upgradeWebSocket) throw new Error("this server cannot upgrade connections");
      return requestContext.upgradeWebSocket();
    });
    return refusal ?? new Response(null, { status: 204 });
  };
  return forEveryMethod(handle);
}
