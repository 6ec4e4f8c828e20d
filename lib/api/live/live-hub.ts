import { AsyncLocalStorage } from "node:async_hooks";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocket, WebSocketServer } from "ws";
import { CLOSE } from "#lib/client/close-codes.ts";
import { keepAddress } from "#lib/security-log/request-address.ts";
import { streamQuerySchema } from "../contract/schemas/queries.ts";
import { clientOf } from "../http/client-address.ts";
import { fail, failureResponse } from "../http/errors.ts";
import { failureOf } from "../http/failure-of.ts";
import { describeFirstIssue } from "../http/validate.ts";
import { admitRequest, type LiveTarget } from "./admit-viewer.ts";
import { greetConnection, type LiveServices } from "./greet-connection.ts";
import { createLiveRooms } from "./live-rooms.ts";
import type { LiveState } from "./serve-viewer.ts";
import { createWatchList } from "./watch-list.ts";

const PAYLOAD_BYTES_MAX = 64 * 1024;
const CLOSING_MS = 2_000;

/** Takes the connection away from HTTP, as the request context of Vercel and of `lib/server/upgrade.ts` does. */
export type Upgrade = () => { req: IncomingMessage; socket: Duplex; head: Buffer };

/** All live connections of this process. */
export type LiveHub = {
  /**
   * `GET /api/sessions/:sessionId/live`, and `GET /s/:sessionId/agents/:agentId/live`.
   *
   * @returns a refusal to answer with, or undefined once the connection is taken.
   */
  openLive: (request: Request, target: LiveTarget, upgrade: Upgrade) => Promise<Response | undefined>;
  /** How many connections follow a session, in all processes. */
  watching: (sessionId: string) => number;
  /** Tells the connections of a session, in all processes, that its waiting messages have changed. */
  queueChanged: (sessionId: string) => void;
  /** Closes every connection to a session that is gone. */
  sessionRemoved: (sessionId: string) => void;
  /** Tells everybody to come back later and waits until they are gone, 2 s at most. */
  close: () => Promise<void>;
};

/**
 * Creates the hub. Source: `wire.md`, WebSocket; `security.md`, WebSocket.
 *
 * @param options.authTimeoutMs how long a first frame may take. Default 10,000.
 * @param options.heartbeatMs time between two pings of every peer. Default 30,000.
 * @param options.now a monotonic clock, in milliseconds.
 */
export function createLiveHub(
  services: LiveServices,
  { authTimeoutMs = 10_000, heartbeatMs = 30_000, now = () => performance.now() } = {},
): LiveHub {
  const { logger } = services;
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: PAYLOAD_BYTES_MAX,
    perMessageDeflate: false,
  });
  const { control, words } = services;
  const watchers = createWatchList(words("live-watching"));
  const state: LiveState = { watchers, rooms: createLiveRooms(control), control };
  const queueWords = words("queue-changed");
  const tellQueue = (sessionId: string) => state.rooms.tellAll(sessionId, { type: "queue", data: {} });
  // A word that was missed may have been of any session: each page reads its queue again.
  const stopListening = queueWords.listen(tellQueue, () => state.rooms.sessionIds().forEach(tellQueue));
  // What a connection does later must not hold on to the request that opened it.
  const outside = AsyncLocalStorage.snapshot();
  const silent = new Set<WebSocket>();
  const sessionOf = new WeakMap<WebSocket, string>();
  let heartbeat: NodeJS.Timeout | undefined;
  let checkedAt = 0;
  let isClosing = false;

  /** Drops every peer that has been silent since the last round, and pings the others. */
  function checkPulses(): void {
    // This process was suspended or blocked: what its peers sent meanwhile has not been read yet.
    if (now() - checkedAt > 1.5 * heartbeatMs) silent.clear();
    checkedAt = now();
    for (const client of server.clients) {
      if (silent.has(client)) {
        client.terminate();
        continue;
      }
      silent.add(client);
      if (client.readyState === WebSocket.OPEN) client.ping();
    }
    if (server.clients.size > 0) return;
    clearInterval(heartbeat);
    heartbeat = undefined;
  }
  function followPulse(webSocket: WebSocket): void {
    if (!heartbeat) {
      checkedAt = now();
      heartbeat = setInterval(checkPulses, heartbeatMs).unref();
    }
    for (const sign of ["message", "pong", "close"]) webSocket.on(sign, () => silent.delete(webSocket));
  }

  return {
    async openLive(request, target, upgrade) {
      const sessionId = target.agentId ?? target.sessionId;
      try {
        if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") return upgradeRequired();
        const admission = await admitRequest(services, request.headers, target);
        const client = clientOf(request);
        if (!admission.ok && admission.code === "unauthorized")
          return failureResponse(services.failedAttempts.refuse(client, admission));
        if (!admission.ok) return failureResponse(admission);
        const query = streamQuerySchema.safeParse(Object.fromEntries(new URL(request.url).searchParams));
        if (!query.success)
          return failureResponse(fail("invalid_request", describeFirstIssue(query.error.issues, "query")));
        if (isClosing) return stopping();

        const { req, socket, head } = upgrade();
        const { viewer } = admission;
        const inRequest = keepAddress();
        outside(() =>
          server.handleUpgrade(req, socket, head, (webSocket) => {
            followPulse(webSocket);
            sessionOf.set(webSocket, sessionId);
            const asked = { sessionId, after: query.data.after, viewer, inRequest, client };
            greetConnection(services, state, webSocket, asked, authTimeoutMs);
          }),
        );
        return undefined;
      } catch (error) {
        logger.error({ err: error, sessionId }, "a live connection could not be opened");
        return failureResponse(failureOf(error));
      }
    },
    watching: watchers.count,
    queueChanged: queueWords.tell,
    sessionRemoved(sessionId) {
      for (const client of server.clients)
        if (sessionOf.get(client) === sessionId) client.close(CLOSE.notFound, "the session was removed");
    },
    async close() {
      isClosing = true;
      clearInterval(heartbeat);
      const clients = [...server.clients];
      const gone = clients.map((client) => new Promise((resolve) => client.once("close", resolve)));
      for (const client of clients) client.close(CLOSE.goingAway, "the service is stopping");
      const patience = setTimeout(() => {
        for (const client of clients) client.terminate();
      }, CLOSING_MS);
      await Promise.all(gone);
      clearTimeout(patience);
      stopListening();
      watchers.close();
    },
  };
}

const upgradeRequired = (): Response =>
  Response.json(
    { success: false, error: "upgrade to WebSocket required", code: "invalid_request" },
    { status: 426, headers: { upgrade: "websocket" } },
  );

const stopping = (): Response =>
  failureResponse(fail("unavailable", "the service is stopping; try again", { "Retry-After": "1" }));
