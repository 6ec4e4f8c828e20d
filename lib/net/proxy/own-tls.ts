import { createServer, type Server } from "node:https";
import type { Duplex } from "node:stream";
import { hostAndPort } from "../address/address-rule.ts";
import { canonicalHostname } from "../address/network-allow.ts";
import { GuardedFetchError } from "../fetch/guarded-fetch-error.ts";
import { answerRequest, forwardRequest } from "./forward-request.ts";
import type { OwnCertificate } from "./own-certificate.ts";
import type { ProxyContext } from "./proxy-context.ts";

/** Ends TLS for our own origins, so that the rule about their paths can be applied. */
type OwnTls = {
  /** Takes over a tunnel to one of our origins. @returns false for any other host and port. */
  takeTunnel: (client: Duplex, head: Uint8Array, hostname: string, port: number) => boolean;
};

/**
 * Answers for our own https origins with a certificate of the proxy's own: requests whose paths are allowed go to where the
 * service listens, on this machine; others are refused as plain http requests are, and WebSockets always are.
 *
 * @param context its rule knows our own origin
 * @param limits.headersTimeout how long the handshake may take, and then the first request. The caller ends the tunnels
 * that are left.
 */
export function createOwnTls(
  context: ProxyContext,
  origins: readonly URL[],
  { key, cert }: OwnCertificate,
  limits: { headersTimeout: number; idleTimeoutMs: number },
): OwnTls {
  const servers = new Map<string, Server>();
  /** The timers of clients that have sent no request yet. */
  const silent = new WeakMap<Duplex, NodeJS.Timeout>();
  for (const origin of origins) {
    const server = createServer(
      { key, cert, handshakeTimeout: limits.headersTimeout },
      (request, response) => {
        clearTimeout(silent.get(request.socket));
        request.on("error", () => {});
        response.on("error", () => {});
        // The host is the tunnel's, whatever the request says.
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
    // Node enforces its own `headersTimeout` only for servers that listen.
    server.on("secureConnection", (socket) => {
      const timer = setTimeout(() => socket.destroy(), limits.headersTimeout);
      silent.set(socket, timer);
      socket.once("close", () => clearTimeout(timer));
    });
    server.timeout = limits.idleTimeoutMs;
    server.keepAliveTimeout = limits.idleTimeoutMs;
    // Plain bytes, or a client that does not accept the certificate.
    server.on("tlsClientError", (_error, socket) => socket.destroy());
    server.on("clientError", (_error, socket) => socket.destroy());
    servers.set(placeOf(hostAndPort(origin)), server);
  }
  return {
    takeTunnel(client, head, hostname, port) {
      const server = servers.get(placeOf({ hostname, port }));
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
