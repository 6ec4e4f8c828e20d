import { createServer, type RequestListener, type Server } from "node:http";

const REQUEST_TIMEOUT_MS = 60_000;
const KEEP_ALIVE_MS = 65_000;

/** Creates the HTTP server of the service: Node's strict parser, which refuses a request whose end is ambiguous. */
export function createHttpServer(handleRequest: RequestListener): Server {
  const server = createServer(
    {
      insecureHTTPParser: false,
      // Any other upgrade is ignored, as HTTP allows: its request is answered as if it had not asked.
      shouldUpgradeCallback: (request) => request.headers.upgrade?.toLowerCase() === "websocket",
    },
    handleRequest,
  );
  // All headers are seen, whatever their number; their size is limited to 16 KiB.
  server.maxHeadersCount = 0;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  return server;
}
