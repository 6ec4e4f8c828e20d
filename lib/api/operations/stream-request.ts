import { findNewestRun, findRequest } from "#lib/session/run-store.ts";
import { projectRequestStatus } from "#lib/session/status.ts";
import { fail } from "../errors.ts";
import type { Answer, Call } from "../route.ts";
import type { ApiServices } from "../services.ts";
import { streamRequest as openStream } from "../sse.ts";

const HEADERS = {
  "Content-Type": "text/event-stream; charset=utf-8",
  // Without "no-transform" a compressing proxy would hold events back.
  "Cache-Control": "no-cache, no-transform",
  "X-Accel-Buffering": "no",
};

/** `GET …/requests/:requestId/stream`. Source: specification; `wire.md`, Stream. */
export async function streamRequest(
  services: ApiServices,
  { request, params, query }: Call<unknown, { after?: number }>,
): Promise<Answer> {
  const { sessionId = "", requestId = "" } = params;
  const lastEventId = readLastEventId(request.headers.get("last-event-id"));
  if (lastEventId === "malformed") return fail("invalid_request", "Last-Event-ID: must be a whole number");
  const found = await findRequest(services.db, sessionId, requestId);
  if (!found) return fail("not_found", "no such request");
  const after = lastEventId ?? query.after ?? 0;
  if (after > 0 && (await hasNothingLeft(services, sessionId, requestId, after)))
    return new Response(null, { status: 204 });
  // A stream that nobody is going to read is not opened.
  if (request.method === "HEAD") return new Response(null, { headers: HEADERS });
  return new Response(openStream(services.log, { sessionId, requestId, after }, request.signal), {
    headers: HEADERS,
  });
}

/** An `EventSource` reconnects with its header, which therefore wins over the query it was opened with. */
function readLastEventId(header: string | null): number | "malformed" | undefined {
  if (header === null || header === "") return undefined;
  return /^\d{1,15}$/.test(header) ? Number(header) : "malformed";
}

async function hasNothingLeft(
  services: ApiServices,
  sessionId: string,
  requestId: string,
  after: number,
): Promise<boolean> {
  const run = await findNewestRun(services.db, requestId);
  if (!run || projectRequestStatus(run) !== "completed") return false;
  return (await services.log.read(sessionId, { after, requestId, limit: 1 })).length === 0;
}
