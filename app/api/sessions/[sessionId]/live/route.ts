import type { Upgrade } from "#lib/api/live/live-hub.ts";
import { findContainer } from "#lib/api/next/find-container.ts";

export const runtime = "nodejs";
export const dynamic = "force-dynamic";

const REQUEST_CONTEXT = Symbol.for("@vercel/request-context");

type Globals = { [REQUEST_CONTEXT]?: { get?: () => { upgradeWebSocket?: Upgrade } | undefined } };

/**
 * A session's live socket on Vercel, whose request context takes the connection away from HTTP; what is answered after
 * that goes nowhere. Our own server process answers this path by itself.
 */
export async function GET(
  request: Request,
  context: { params: Promise<{ sessionId: string }> },
): Promise<Response> {
  const service = await findContainer();
  const requestContext = (globalThis as Globals)[REQUEST_CONTEXT]?.get?.();
  const refusal = await service.openLive(request, await context.params, () => {
    if (!requestContext?.upgradeWebSocket) throw new Error("this server cannot upgrade connections");
    return requestContext.upgradeWebSocket();
  });
  return refusal ?? new Response(null, { status: 204 });
}
