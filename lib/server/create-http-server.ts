import { createServer, type RequestListener, type Server } from "node:http";

const REQUEST_TIMEOUT_MS = 60_000;
/** Clients send all headers at once, so a connection on which they stall is of no use. */
const HEADERS_TIMEOUT_MS = 20_000;
/** How often connections beyond the two times above are closed. */
const CHECK_MS = 5_000;
const KEEP_ALIVE_MS = 65_000;
/** An idle connection takes about 20 KiB, and a small body up to 64 KiB. */
const CONNECTIONS_MAX = 10_000;

/**
 * Creates the HTTP server with Node's strict parser, which rejects a request whose end is ambiguous. A connection beyond
 * `connectionsMax` is closed, and so are all idle ones, so that the next connections find room.
 */
export function createHttpServer(handleRequest: RequestListener, connectionsMax = CONNECTIONS_MAX): Server {
  const server = createServer(
    {
      insecureHTTPParser: false,
      connectionsCheckingInterval: CHECK_MS,
      // Upgrades to protocols other than WebSocket are ignored, as HTTP allows: the request is answered without them.
      shouldUpgradeCallback: (request) => request.headers.upgrade?.toLowerCase() === "websocket",
    },
    handleRequest,
  );
  // 0 means that the number of headers is not limited. Node limits their total size to 16 KiB.
  server.maxHeadersCount = 0;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.maxConnections = connectionsMax;
  server.on("drop", () => server.closeIdleConnections());
  return server;
}
