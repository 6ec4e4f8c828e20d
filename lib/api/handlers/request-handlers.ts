import { type PageQuery, readPage } from "#lib/events/read-page.ts";
import { projectRequestStatus } from "#lib/session/run/status.ts";
import { type AnsweringRun, findNewestRun, findStatus } from "#lib/session/store/run-store.ts";
import { unknownSession } from "../auth/known-session.ts";
import { fail } from "../http/errors.ts";
import { streamRequest as openStream, type StreamQuery } from "../http/event-stream.ts";
import type { Answer, CallOf, Handlers } from "./handler.ts";
import type { ApiServices } from "./services.ts";

const HEADERS = {
  "Content-Type": "text/event-stream; charset=utf-8",
  // Without `no-transform`, a proxy that compresses responses would delay events in its buffer.
  "Cache-Control": "no-cache, no-transform",
  "X-Accel-Buffering": "no",
};

/**
 * `GET …/requests/:requestId/stream`: streams the events of a request. Source: specification, GET …/stream; `wire.md`,
 * Stream.
 */
async function streamRequest(
  services: ApiServices,
  { request, params, query, caller }: CallOf<"streamRequest">,
): Promise<Answer> {
  const { sessionId, requestId } = params;
  const lastEventId = readLastEventId(request.headers.get("last-event-id"));
  if (lastEventId === "malformed") return fail("invalid_request", "Last-Event-ID: must be a whole number");
  const { db } = services;
  const sent = lastEventId ?? query.after ?? 0;
  const isHead = request.method === "HEAD";
  // Most streams start with the first event. To save time, their first page is read during the lookup of the request.
  const early =
    sent === 0 && !isHead ? open(services, request, caller, { sessionId, requestId, after: 0 }) : undefined;
  // `cancel` rejects if the first read has failed. The error is ignored, because nothing of the stream was sent.
  const discard = () => early?.cancel().catch(() => {});
  const found = await findStatus(db, { sessionId, requestId, ownerId: caller.ownerId }).catch((error) => {
    void discard();
    throw error;
  });
  const joined = found.kind === "found" ? found.joined : undefined;
  if (early && found.kind === "found" && !joined) return new Response(early, { headers: HEADERS });
  await discard();
  if (found.kind === "unknown_session") return unknownSession();
  if (found.kind === "unknown_request") return fail("not_found", "no such request");
  // A steer is a message that joined the turn of another request. Its stream starts with the first event after the
  // service accepted the steer.
  const after = Math.max(sent, joined?.afterSeq ?? 0);
  if (sent > 0 && (await hasNothingLeft(services, sessionId, found.run, after)))
    return new Response(null, { status: 204 });
  if (isHead) return new Response(null, { headers: HEADERS });
  const hasOwnRun = async () => (await findNewestRun(db, requestId)) !== undefined;
  const stream = open(services, request, caller, {
    sessionId,
    requestId,
    after,
    ...(joined && { joined: { requestId: joined.requestId, hasOwnRun } }),
  });
  return new Response(stream, { headers: HEADERS });
}

/** Opens the stream of a request. The stream also ends when the client disconnects or loses its access. */
function open(
  { db, log, access }: ApiServices,
  request: Request,
  { grant }: CallOf<"streamRequest">["caller"],
  followed: StreamQuery,
): ReadableStream<Uint8Array> {
  const { subscribe, readUnfinished } = log;
  const pages = { subscribe, readUnfinished, readPage: (page: PageQuery) => readPage(db, page) };
  const withdrawn = new AbortController();
  const release = grant && access.watch({ ...grant, scopes: ["sessions:read"] }, () => withdrawn.abort());
  return openStream(pages, followed, AbortSignal.any([request.signal, withdrawn.signal]), release);
}

/**
 * Reads `Last-Event-ID`. The header takes precedence over `?after=`, because an `EventSource` reconnects with its
 * original URL.
 */
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
  // `run` is the run whose end completes the request. For a steer without its own run, `run.requestId` is therefore the
  // request of the joined turn.
  return (await log.read(sessionId, { after, requestId: run.requestId, limit: 1 })).length === 0;
}

export const requestHandlers = {
  streamRequest,
} satisfies Partial<Handlers>;
