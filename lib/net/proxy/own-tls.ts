import { createServer, type Server } from "node:https";
import type { Duplex } from "node:stream";
import { hostAndPort } from "../address/address-rule.ts";
import { canonicalHostname } from "../address/network-allow.ts";
import { GuardedFetchError } from "../fetch/guarded-fetch-error.ts";
import { answerRequest, forwardRequest } from "./forward-request.ts";
import type { OwnCertificate } from "./own-certificate.ts";
import type { ProxyContext } from "./proxy-context.ts";

/** Terminates TLS for our own origins, so that the proxy can check the paths of requests. */
type OwnTls = {
  /** Takes over a tunnel if it goes to one of our https origins. @returns false for any other host and port. */
  takeTunnel: (client: Duplex, head: Uint8Array, hostname: string, port: number) => boolean;
};

/**
 * Creates TLS servers for our own https origins, with the proxy's own certificate. Requests with an allowed path are
 * forwarded to the service's port on this machine. Requests with another path, and all WebSocket requests, are refused.
 * The caller must close the tunnels that are still open when the proxy stops.
 *
 * @param context must contain an `own` rule.
 * @param origins returns our https origins. More can be added later; the servers are created when they are needed.
 * @param limits.headersTimeout time limit in ms for the handshake, and again for the headers of the first request.
 */
export function createOwnTls(
  context: ProxyContext,
  origins: () => readonly URL[],
  { key, cert }: OwnCertificate,
  limits: { headersTimeout: number; idleTimeoutMs: number },
): OwnTls {
  const servers = new Map<string, Server>();
  const findServer = (place: string): Server | undefined => {
    const origin = origins().find((each) => placeOf(hostAndPort(each)) === place);
    if (!origin) return undefined;
    const server = servers.get(place) ?? startServer(origin);
    servers.set(place, server);
    return server;
  };
  /** Timers of clients that have not yet sent a request. */
  const firstRequestTimers = new WeakMap<Duplex, NodeJS.Timeout>();
  function startServer(origin: URL): Server {
    const server = createServer(
      { key, cert, handshakeTimeout: limits.headersTimeout },
      (request, response) => {
        clearTimeout(firstRequestTimers.get(request.socket));
        request.on("error", () => {});
        response.on("error", () => {});
        // The tunnel determines the host of the URL. The Host header is ignored.
        const url = request.url?.startsWith("/") ? URL.parse(`${origin.origin}${request.url}`) : null;
        if (!url) return answerRequest(response, 400, {}, "a path is expected\n");
        if (request.headers.upgrade === undefined)
          return forwardRequest(context, request, response, url, undefined);
        const refusal = new GuardedFetchError(
          "refused",
          `sockets of this service are not for the agent's browser`,
        );
        const [name, reason] = context.report(url.href, refusal, undefined);
        answerRequest(response, 403, { [name]: reason }, `${reason}\n`);
      },
    );
    // Disconnects a client that sends no request in time. Node enforces `headersTimeout` only for servers that listen,
    // but this server gets its sockets from the proxy.
    server.on("secureConnection", (socket) => {
      const timer = setTimeout(() => socket.destroy(), limits.headersTimeout);
      firstRequestTimers.set(socket, timer);
      socket.once("close", () => clearTimeout(timer));
    });
    server.timeout = limits.idleTimeoutMs;
    server.keepAliveTimeout = limits.idleTimeoutMs;
    // Closes the connection if the client sent plain bytes or does not accept the certificate.
    server.on("tlsClientError", (_error, socket) => socket.destroy());
    server.on("clientError", (_error, socket) => socket.destroy());
    return server;
  }
  return {
    takeTunnel(client, head, hostname, port) {
      const server = findServer(placeOf({ hostname, port }));
      if (!server) return false;
      client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      if (head.byteLength > 0) client.unshift(head);
      server.emit("connection", client);
      return true;
    },
  };
}

const placeOf = ({ hostname, port }: { hostname: string; port: number }): string =>
  `${canonicalHostname(hostname)}:${port}`;
