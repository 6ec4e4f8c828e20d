import http, { type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { Logger } from "#lib/log/logger.ts";
import { type AddressRule, hostAndPort } from "../address/address-rule.ts";
import { answerRequest, forwardRequest } from "./forward-request.ts";
import { openTunnel, refuseTunnel } from "./open-tunnel.ts";
import type { OwnCertificate } from "./own-certificate.ts";
import { createOwnOriginRule, type OwnOrigins } from "./own-origin.ts";
import { createOwnTls } from "./own-tls.ts";
import type { ProxyContext } from "./proxy-context.ts";
import { FAILED_HEADER, type ProxyCredentials, readProxyUser, refusedHeader } from "./proxy-headers.ts";

/** A request that was not forwarded: the guard refused it, or its server could not be reached. */
export type ProxyRefusal = {
  url: string;
  why: "refused" | "failed";
  reason: string;
  clientId: string | undefined;
};

/** Options of the proxy. `rule` is the guard's rule. */
export type ForwardProxyOptions = {
  rule: AddressRule;
  own?: OwnOrigins;
  /**
   * Makes the allowed paths of our own https origins reachable. Without a certificate, tunnels to these origins are
   * refused.
   */
  ownCertificate?: OwnCertificate;
  /** If set, clients must authenticate (407). The user name becomes the `clientId` of refusals. */
  credentials?: ProxyCredentials;
  /**
   * Called with the host and port of each request and tunnel, which wait for what it returns. Must neither throw nor
   * reject.
   */
  hold?: (host: string) => Promise<unknown> | undefined;
  /** Called for every refusal and every failure. Must not throw. */
  onRefused?: (refusal: ProxyRefusal) => void;
  logger?: Pick<Logger, "debug">;
  /** Time limit for connecting to a server, in milliseconds. Default 15,000. */
  connectTimeoutMs?: number;
  /** How long a connection may be silent, in milliseconds. Default 300,000. */
  idleTimeoutMs?: number;
};

/** A running proxy. `close` ends its connections and resolves when the port is free. */
export type ForwardProxy = { host: "127.0.0.1"; port: number; close(): Promise<void> };

const HEADERS_TIMEOUT_MS = 15_000;
const challenge = 'Basic realm="network"';

/**
 * Starts the HTTP forward proxy on a free loopback port. The browser reaches the network through the proxy. The proxy
 * handles absolute-form requests and CONNECT, and checks the addresses of each connection while connecting. A refused
 * request is answered with 403 and the header `x-network-refused: <reason>`. If the server cannot be reached, the
 * answer is 502 with `x-network-failed`. A plain http navigation gets 204 instead of 403 or 502, so that the browser
 * stays on its current page. Rejects when it cannot listen. Source: `security.md`, What leaves the service.
 */
export async function startForwardProxy(options: ForwardProxyOptions): Promise<ForwardProxy> {
  const { credentials, idleTimeoutMs = 300_000 } = options;
  const own = options.own === undefined ? undefined : createOwnOriginRule(options.own);
  // Connections are not reused, because a server may close an idle connection just when the proxy reuses it.
  const agent = new http.Agent({ keepAlive: false });
  const context: ProxyContext = {
    rule: own === undefined ? options.rule : own.guard(options.rule),
    own,
    agent,
    connectTimeoutMs: options.connectTimeoutMs ?? 15_000,
    idleTimeoutMs,
    report(url, error, clientId) {
      const why = error.kind === "refused" ? "refused" : "failed";
      options.logger?.debug({ url, why, reason: error.message, clientId }, "proxy request not carried out");
      options.onRefused?.({ url, why, reason: error.message, clientId });
      return [why === "refused" ? refusedHeader : FAILED_HEADER, error.message.replace(/[^\x20-\x7e]/g, "?")];
    },
  };

  /**
   * Returns the client's user name; undefined if clients need no credentials; false if the client's credentials are
   * missing or wrong.
   */
  function authenticate(request: IncomingMessage): string | undefined | false {
    if (credentials === undefined) return undefined;
    return readProxyUser(request.headers["proxy-authorization"], credentials) ?? false;
  }

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    request.on("error", () => {});
    response.on("error", () => {});
    const clientId = authenticate(request);
    const url = URL.parse(request.url ?? "");
    if (clientId === false) answerRequest(response, 407, { "proxy-authenticate": challenge });
    else if (url?.protocol === "http:")
      held(url, () => forwardRequest(context, request, response, url, clientId));
    else answerRequest(response, 400, {}, "an absolute http URL is expected\n");
  }

  function onConnect(request: IncomingMessage, client: Duplex, head: Uint8Array): void {
    const clientId = authenticate(request);
    const url = /^[^/?#@\s]+:\d{1,5}$/.test(request.url ?? "") ? URL.parse(`http://${request.url}`) : null;
    if (clientId === false) {
      refuseTunnel(client, "407 Proxy Authentication Required", `Proxy-Authenticate: ${challenge}\r\n`);
    } else if (url === null) {
      refuseTunnel(client, "400 Bad Request");
    } else {
      held(url, () => startTunnel(client, head, url, clientId));
    }
  }

  function startTunnel(client: Duplex, head: Uint8Array, url: URL, clientId: string | undefined): void {
    if (client.destroyed) return;
    const { hostname, port } = hostAndPort(url);
    if (tls?.takeTunnel(client, head, hostname, port)) return;
    const upstream = openTunnel(context, client, head, url, clientId);
    if (upstream !== undefined) track(upstream);
  }

  /** Calls `go` at once, or when `options.hold` no longer holds requests to the host. */
  function held(url: URL, go: () => void): void {
    const { hostname, port } = hostAndPort(url);
    const hold = options.hold?.(`${hostname}:${port}`);
    if (hold) void hold.then(go);
    else go();
  }

  const tls =
    own && options.ownCertificate
      ? createOwnTls(context, own.tlsOrigins, options.ownCertificate, {
          headersTimeout: HEADERS_TIMEOUT_MS,
          idleTimeoutMs,
        })
      : undefined;
  const sockets = new Set<Duplex>();
  function track(socket: Duplex): void {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    // Without a listener, an "error" event would end the process.
    socket.on("error", () => socket.destroy());
  }

  const server = http.createServer({ headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: 0 }, onRequest);
  server.timeout = idleTimeoutMs;
  server.keepAliveTimeout = idleTimeoutMs;
  server.on("connection", track);
  server.on("connect", onConnect);
  server.on("clientError", (_error, socket) => socket.destroy());
  const listening = Promise.withResolvers<void>();
  server.once("error", listening.reject);
  server.listen(0, "127.0.0.1", listening.resolve);
  await listening.promise;

  async function close(): Promise<void> {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    agent.destroy();
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  return { host: "127.0.0.1", port: (server.address() as AddressInfo).port, close };
}
