import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { createRequestListener } from "#lib/server/request-listener.ts";
import { createUpgradeHandler } from "#lib/server/upgrade.ts";
import { checkAnswer, openTestService, type TestService } from "./testing.ts";

/** A test service that serves everything except the pages over HTTP at `baseUrl`. */
export type HttpTestService = TestService & {
  baseUrl: string;
  /** Like `fetch`, but checks every answer against the OpenAPI document. */
  fetch: typeof fetch;
  /** Destroys every open connection, like a network failure. */
  cutConnections: () => void;
};

/** Starts a test service that listens on a free port. */
export async function openHttpTestService(variables: Record<string, string> = {}): Promise<HttpTestService> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const service = await openTestService({ ...variables, PORT: String(port) });
  const { container, env } = service;
  const handle = () => Promise.reject(new Error("the pages are not served here"));
  const logger = { error: () => {} };
  const { handleRequest } = createRequestListener({ container, env, handle, isDev: false, logger });
  server.on("request", handleRequest);
  // Records the sockets, because `closeAllConnections` does not close upgraded connections.
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const { upgradeToWebSocket } = container.mounted;
  server.on(
    "upgrade",
    createUpgradeHandler({ upgradeToWebSocket, handleRequest, baseUrl: env.baseUrl, isDev: false }),
  );
  return {
    ...service,
    baseUrl: env.baseUrl,
    async fetch(input, init) {
      const { pathname } = new URL(input instanceof Request ? input.url : input);
      const body: unknown = typeof init?.body === "string" ? JSON.parse(init.body) : undefined;
      return checkAnswer({ method: init?.method ?? "GET", pathname, body }, await fetch(input, init));
    },
    cutConnections() {
      for (const socket of sockets) socket.destroy();
    },
    async close(options) {
      server.close();
      await service.close(options);
      server.closeAllConnections();
    },
  };
}
