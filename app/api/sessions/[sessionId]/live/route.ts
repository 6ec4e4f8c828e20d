import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

export const runtime = "nodejs";
export const dynamic = "force-dynamic";

type Upgrade = () => { req: IncomingMessage; socket: Duplex; head: Buffer };

type LiveService = {
  openLive: (
    request: Request,
    params: { sessionId: string },
    upgrade: Upgrade,
  ) => Promise<Response | undefined>;
};

const CONTAINER = Symbol.for("agent-session-service");
const REQUEST_CONTEXT = Symbol.for("@vercel/request-context");

type Globals = {
  [CONTAINER]?: LiveService;
  [REQUEST_CONTEXT]?: { get?: () => { upgradeWebSocket?: Upgrade } | undefined };
};

/**
 * A session's live socket. The request context takes the connection away from HTTP: the platform's on Vercel,
 * `lib/server/upgrade.ts`'s everywhere else. What is answered after that goes nowhere.
 */
export async function GET(
  request: Request,
  context: { params: Promise<{ sessionId: string }> },
): Promise<Response> {
  const globals = globalThis as Globals;
  const service = globals[CONTAINER];
  if (!service)
    throw new Error("the service's container is missing: routes are served by lib/server/main.ts");
  const requestContext = globals[REQUEST_CONTEXT]?.get?.();
  const refusal = await service.openLive(request, await context.params, () => {
    if (!requestContext?.upgradeWebSocket) throw new Error("this server cannot upgrade connections");
    return requestContext.upgradeWebSocket();
  });
  return refusal ?? new Response(null, { status: 204 });
}
