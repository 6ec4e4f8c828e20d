import { createServer, type RequestListener, type Server } from "node:http";

const REQUEST_TIMEOUT_MS = 60_000;
const KEEP_ALIVE_MS = 65_000;

/** Creates the HTTP server with Node's strict parser, which rejects a request whose end is ambiguous. */
export function createHttpServer(handleRequest: RequestListener): Server {
  const server = createServer(
    {
      insecureHTTPParser: false,
      // Upgrades to protocols other than WebSocket are ignored, as HTTP allows: the request is answered without them.
      shouldUpgradeCallback: (request) => request.headers.upgrade?.toLowerCase() === "websocket",
    },
    handleRequest,
  );
  // 0 means that the number of headers is not limited. Node limits their total size to 16 KiB.
  server.maxHeadersCount = 0;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  return server;
}
