import { type PageQuery, readPage } from "#lib/events/read-page.ts";
import { type AnsweringRun, findNewestRun, findStatus } from "#lib/session/run/run-store.ts";
import { projectRequestStatus } from "#lib/session/run/status.ts";
import { unknownSession } from "../auth/known-session.ts";
import { fail } from "../http/errors.ts";
import { streamRequest as openStream } from "../http/event-stream.ts";
import type { Answer } from "../operations/handler.ts";
import type { ApiServices } from "../services.ts";
import type { CallOf } from "./handler.ts";

const HEADERS = {
  "Content-Type": "text/event-stream; charset=utf-8",
  // Without "no-transform" a compressing proxy would buffer events.
  "Cache-Control": "no-cache, no-transform",
  "X-Accel-Buffering": "no",
};

/** `GET …/requests/:requestId/stream`. Source: specification, GET …/stream; `wire.md`, Stream. */
export async function streamRequest(
  services: ApiServices,
  { request, params, query, caller }: CallOf<"streamRequest">,
): Promise<Answer> {
  const { sessionId, requestId } = params;
  const lastEventId = readLastEventId(request.headers.get("last-event-id"));
  if (lastEventId === "malformed") return fail("invalid_request", "Last-Event-ID: must be a whole number");
  const { db, log } = services;
  const found = await findStatus(db, { sessionId, requestId, ownerId: caller.ownerId });
  if (found.kind === "unknown_session") return unknownSession();
  if (found.kind === "unknown_request") return fail("not_found", "no such request");
  const { joined, run } = found;
  const sent = lastEventId ?? query.after ?? 0;
  // The stream of a steer begins where the steer was accepted, within the stream of another request.
  const after = Math.max(sent, joined?.afterSeq ?? 0);
  if (sent > 0 && (await hasNothingLeft(services, sessionId, run, after)))
    return new Response(null, { status: 204 });
  // A HEAD request reads no events, so no stream is opened.
  if (request.method === "HEAD") return new Response(null, { headers: HEADERS });
  const streamQuery = {
    sessionId,
    requestId,
    after,
    ...(joined && {
      joined: {
        requestId: joined.requestId,
        hasOwnRun: async () => (await findNewestRun(db, requestId)) !== undefined,
      },
    }),
  };
  const { subscribe, readUnfinished } = log;
  const pages = { subscribe, readUnfinished, readPage: (page: PageQuery) => readPage(db, page) };
  const { grant } = caller;
  const withdrawn = new AbortController();
  const stopWatching =
    grant && services.access.watch({ ...grant, scopes: ["sessions:read"] }, () => withdrawn.abort());
  const signal = AbortSignal.any([request.signal, withdrawn.signal]);
  return new Response(openStream(pages, streamQuery, signal, stopWatching), { headers: HEADERS });
}

/** Reads `Last-Event-ID`. It takes precedence over `?after=`, because an `EventSource` reconnects with its first URL. */
function readLastEventId(header: string | null): number | "malformed" | undefined {
  if (header === null || header === "") return undefined;
  return /^\d{1,15}$/.test(header) ? Number(header) : "malformed";
}

async function hasNothingLeft(
  { log }: ApiServices,
  sessionId: string,
  run: AnsweringRun,
  after: number,
): Promise<boolean> {
  if (projectRequestStatus(run) !== "completed") return false;
  // For a steer this is the request of its own run, if it has one, and not that of the turn it had joined.
  return (await log.read(sessionId, { after, requestId: run.requestId, limit: 1 })).length === 0;
}
