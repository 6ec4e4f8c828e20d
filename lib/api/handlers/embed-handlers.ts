import { unknownSession } from "../auth/known-session.ts";
import { readRequestAccess } from "../auth/share-token.ts";
import type { Answer, CallOf, Handlers } from "./handler.ts";
import type { ApiServices } from "./services.ts";

/**
 * `GET /s/:sessionId/actions/frame`: returns what the page of a frame shows, and who may show the frame. A HEAD, which
 * frames send before they connect again, only checks the access.
 */
async function readFrame(services: ApiServices, { request, session }: CallOf<"readFrame">): Promise<Answer> {
  const access = await readRequestAccess(services, session.id, request.headers, true);
  if (!access) return unknownSession();
  const snapshot = request.method === "HEAD" ? null : await services.readSnapshot(session.id, access);
  if (snapshot === undefined) return unknownSession();
  const { embedOrigins: origins } = services.settings;
  const linkOrigins = access.embedOrigins?.filter((origin) => origins.includes(origin)) ?? null;
  const { scope } = access;
  return { ok: true, status: 200, body: { success: true, scope, origins, linkOrigins, snapshot } };
}

export const embedHandlers = { readFrame } satisfies Partial<Handlers>;
