import { AsyncLocalStorage } from "node:async_hooks";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocket, WebSocketServer } from "ws";
import { CLOSE } from "#lib/client/close-codes.ts";
import { keepAddress } from "#lib/security-log/request-address.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import { liveQuerySchema } from "../contract/schemas/queries.ts";
import { clientOf } from "../http/client-address.ts";
import { fail, failureResponse } from "../http/errors.ts";
import { componentOf, failureOf } from "../http/failure-of.ts";
import { describeFirstIssue } from "../http/validate.ts";
import { admitRequest, type LiveTarget } from "./admit-viewer.ts";
import { limitFrames } from "./frame-limit.ts";
import { greetConnection, type LiveServices } from "./greet-connection.ts";
import { createLiveRooms } from "./live-rooms.ts";
import type { LiveState } from "./serve-viewer.ts";
import { createWatchList } from "./watch-list.ts";

const PAYLOAD_BYTES_MAX = 64 * 1024;
const CLOSING_MS = 2_000;

/**
 * Takes over the connection of a request from its HTTP server. Vercel's request context and `lib/server/upgrade.ts`
 * provide this function.
 */
export type Upgrade = () => { req: IncomingMessage; socket: Duplex; head: Buffer };

/** All live connections of this process. */
export type LiveHub = {
  /**
   * Serves `GET /api/sessions/:sessionId/live` and `GET /s/:sessionId/agents/:agentId/live`.
   *
   * @returns the response if the request is refused; undefined when the connection is upgraded.
   */
  upgradeToWebSocket: (
    request: Request,
    target: LiveTarget,
    upgrade: Upgrade,
  ) => Promise<Response | undefined>;
  /**
   * Returns the number of connections that follow a session, in all processes. Returns 0 if this process has no
   * connection to the session.
   */
  watching: (sessionId: string) => number;
  /** Notifies the connections of a session, in all processes, that its queued messages have changed. */
  queueChanged: (sessionId: string) => void;
  /** Closes this process's connections to a session that was removed. */
  sessionRemoved: (sessionId: string) => void;
  /** Closes all connections of this process and refuses new ones. Terminates connections that do not close in time. */
  close: () => Promise<void>;
};

const ALLOW = { Allow: "GET, HEAD, OPTIONS" };

/**
 * Creates the hub. Source: `wire.md`, WebSocket; `security.md`, WebSocket.
 *
 * @param options.authTimeoutMs milliseconds within which a client without a credential must send one. Default 10,000.
 * @param options.heartbeatMs milliseconds between two pings of a connection. Default 10,000.
 * @param options.now a monotonic clock, in milliseconds.
 */
export function createLiveHub(
  services: LiveServices,
  { authTimeoutMs = 10_000, heartbeatMs = 10_000, now = () => performance.now() } = {},
): LiveHub {
  const { logger } = services;
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: PAYLOAD_BYTES_MAX,
    perMessageDeflate: false,
    autoPong: false,
  });
  const { control, openTopic } = services;
  const watchers = createWatchList(openTopic("live-watching"));
  const state: LiveState = { watchers, rooms: createLiveRooms(control), control };
  const queueTopic = openTopic("queue-changed");
  const notifyOfQueue = (sessionId: string) => state.rooms.notifyAll(sessionId, { type: "queue", data: {} });
  // The second callback runs when messages of the topic may have been missed. It notifies all connections, because a
  // missed message may have been about any session.
  const stopListening = queueTopic.subscribe(notifyOfQueue, () =>
    state.rooms.sessionIds().forEach(notifyOfQueue),
  );
  // Runs work outside the async context of the request that opened the connection. Otherwise the request would stay in
  // memory as long as the connection.
  const outsideRequest = AsyncLocalStorage.snapshot();
  const silent = new Set<WebSocket>();
  const sessionOf = new WeakMap<WebSocket, string>();
  let heartbeat: NodeJS.Timeout | undefined;
  let checkedAt = 0;
  let isClosing = false;

  /** Terminates each connection that sent nothing since the last round of pings, and pings the others. */
  function pingAll(): void {
    // If this round is late, the process was suspended or blocked, so it may not have read the answers of its peers. In
    // this case, the round terminates no connection.
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
  function monitor(webSocket: WebSocket): void {
    if (!heartbeat) {
      checkedAt = now();
      heartbeat = setInterval(pingAll, heartbeatMs).unref();
    }
    for (const name of ["message", "pong", "close"]) webSocket.on(name, () => silent.delete(webSocket));
    // A client that sends pings and reads nothing must not fill the memory with their answers.
    webSocket.on("ping", (data) => {
      if (webSocket.readyState === WebSocket.OPEN && webSocket.bufferedAmount < PAYLOAD_BYTES_MAX)
        webSocket.pong(data);
    });
  }

  return {
    async upgradeToWebSocket(request, target, upgrade) {
      const sessionId = target.agentId ?? target.sessionId;
      try {
        if (request.method === "OPTIONS") return new Response(null, { status: 204, headers: ALLOW });
        if (request.method !== "GET" && request.method !== "HEAD")
          return failureResponse(fail("method_not_allowed", "method: must be GET", ALLOW));
        if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") return upgradeRequired();
        const query = liveQuerySchema.safeParse(Object.fromEntries(new URL(request.url).searchParams));
        const admission = await admitRequest(services, request.headers, target, query.data?.auth === "frame");
        const client = clientOf(request);
        if (!admission.ok && admission.code === "unauthorized")
          return failureResponse(services.failedAttempts.refuse(client, admission));
        if (!admission.ok) return failureResponse(admission);
        if (!query.success)
          return failureResponse(fail("invalid_request", describeFirstIssue(query.error.issues, "query")));
        if (isClosing) return stopping();

        const { req, socket, head } = upgrade();
        const { viewer } = admission;
        const inRequest = keepAddress();
        outsideRequest(() =>
          server.handleUpgrade(req, socket, head, (webSocket) => {
            limitFrames(webSocket, socket, now);
            monitor(webSocket);
            sessionOf.set(webSocket, sessionId);
            const liveRequest = { sessionId, after: query.data.after, viewer, inRequest, client };
            greetConnection(services, state, webSocket, liveRequest, authTimeoutMs);
          }),
        );
        return undefined;
      } catch (error) {
        logger.error(
          { err: error, sessionId, ...componentOf(error) },
          "a live connection could not be opened",
        );
        return failureResponse(failureOf(error));
      }
    },
    watching: watchers.count,
    queueChanged: queueTopic.publish,
    sessionRemoved(sessionId) {
      for (const client of server.clients)
        if (sessionOf.get(client) === sessionId) client.close(CLOSE.notFound, "the session was removed");
    },
    async close() {
      isClosing = true;
      clearInterval(heartbeat);
      const clients = [...server.clients];
      const closed = clients.map((client) => new Promise((resolve) => client.once("close", resolve)));
      for (const client of clients) client.close(CLOSE.goingAway, "the service is stopping");
      if (!(await createDeadline({ ms: CLOSING_MS }).settles(Promise.all(closed))))
        for (const client of clients) client.terminate();
      await Promise.all(closed);
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
