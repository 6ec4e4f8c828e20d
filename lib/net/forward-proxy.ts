import http from "node:http";
import net, { type AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream";
import type { AddressRule } from "./address-rule.ts";
import { hostAndPort } from "./address-rule.ts";
import { createCheckedLookup } from "./checked-lookup.ts";
import { GuardedFetchError, toGuardedFetchError } from "./guarded-fetch-error.ts";
import { createOwnOriginRule, type OwnOrigin } from "./own-origin.ts";
import {
  endToEndHeaders,
  failedHeader,
  type ProxyCredentials,
  readProxyUser,
  refusedHeader,
} from "./proxy-headers.ts";

/** A request that the proxy did not carry out: the guard refused it, or its server could not be reached. */
export type ProxyRefusal = {
  url: string;
  why: "refused" | "failed";
  reason: string;
  clientId: string | undefined;
};

/** What the proxy needs; `rule` is the guard's, the rest is optional. */
export type ForwardProxyOptions = {
  rule: AddressRule;
  own?: OwnOrigin;
  /** Asked for with 407 where set; the user's name becomes the `clientId` of refusals. */
  credentials?: ProxyCredentials;
  onRefused?: (refusal: ProxyRefusal) => void;
  logger?: { debug(details: object, text: string): void };
  connectTimeoutMs?: number;
  idleTimeoutMs?: number;
};

/** A running proxy; `close` ends its connections and resolves when the port is free. */
export type ForwardProxy = { host: "127.0.0.1"; port: number; close(): Promise<void> };

const headersTimeoutMs = 15_000;

/**
 * Starts the HTTP forward proxy (absolute-form requests and CONNECT) through which the browser reaches the network,
 * on a free loopback port. Each connection goes to addresses that the rule allowed while connecting.
 * A refusal is a 403 with the header `x-network-refused: <reason>`, an unreachable server a 502 with
 * `x-network-failed`; to a plain http navigation both are a 204, as a browser then stays on the page it shows.
 * Source: design "What leaves the service".
 */
export async function startForwardProxy(options: ForwardProxyOptions): Promise<ForwardProxy> {
  const { credentials, connectTimeoutMs = 15_000, idleTimeoutMs = 300_000 } = options;
  const own = options.own === undefined ? undefined : createOwnOriginRule(options.own);
  const rule = own === undefined ? options.rule : own.guard(options.rule);
  const agent = new http.Agent({ keepAlive: true, timeout: idleTimeoutMs });
  const sockets = new Set<Duplex>();

  function report(url: string, error: GuardedFetchError, clientId: string | undefined): [string, string] {
    const why = error.kind === "refused" ? "refused" : "failed";
    options.logger?.debug({ url, why, reason: error.message, clientId }, "proxy request not carried out");
    options.onRefused?.({ url, why, reason: error.message, clientId });
    return [why === "refused" ? refusedHeader : failedHeader, error.message.replace(/[^\x20-\x7e]/g, "?")];
  }

  /** The user's name, undefined where none is asked for, or false where the credentials are wrong. */
  function authenticate(request: http.IncomingMessage): string | undefined | false {
    if (credentials === undefined) return undefined;
    return readProxyUser(request.headers["proxy-authorization"], credentials) ?? false;
  }

  /** Decides where to connect to; throws a GuardedFetchError when a name or literal address is refused. */
  function route(hostname: string, port: number) {
    const refusal = net.isIP(hostname) === 0 ? undefined : rule.checkAddress(hostname, port);
    if (refusal !== undefined) throw new GuardedFetchError("refused", refusal);
    return { host: hostname, port, lookup: createCheckedLookup(rule, port) };
  }

  function routeRequest(url: URL) {
    const ours = own?.resolve(url);
    if (ours === undefined) {
      const { hostname, port } = hostAndPort(url);
      return route(hostname, port);
    }
    if ("reason" in ours) throw new GuardedFetchError("refused", ours.reason);
    return { host: ours.hostname, port: ours.port };
  }

  function onRequest(request: http.IncomingMessage, response: http.ServerResponse): void {
    request.on("error", () => {});
    response.on("error", () => {});
    const clientId = authenticate(request);
    const url = URL.parse(request.url ?? "");
    if (clientId === false || url?.protocol !== "http:") {
      if (clientId === false) answer(response, 407, { "proxy-authenticate": challenge });
      else answer(response, 400, {}, "an absolute http URL is expected\n");
      return;
    }

    const fail = (cause: unknown) => {
      const error = toGuardedFetchError(cause, url.host);
      if (response.headersSent || response.destroyed) {
        response.destroy();
        return;
      }
      const [name, reason] = report(url.href, error, clientId);
      // Chromium sends this header with navigations alone, and stays where it is on a 204.
      const isNavigation = request.headers["upgrade-insecure-requests"] === "1";
      const status = isNavigation ? 204 : error.kind === "refused" ? 403 : 502;
      answer(response, status, { [name]: reason }, `${reason}\n`);
    };

    let upstream: http.ClientRequest;
    try {
      const isChunked = request.headers["transfer-encoding"] !== undefined;
      const headers = endToEndHeaders(request.rawHeaders, ["host", "expect"]);
      upstream = http.request({
        ...routeRequest(url),
        agent,
        method: request.method ?? "GET",
        path: url.pathname + url.search,
        headers: ["Host", url.host, ...headers, ...(isChunked ? ["Transfer-Encoding", "chunked"] : [])],
        setHost: false,
      });
    } catch (error) {
      fail(error);
      return;
    }
    limitConnect(upstream, connectTimeoutMs);
    upstream.setTimeout(idleTimeoutMs, () => upstream.destroy(timedOut(url.host)));
    upstream.on("error", fail);
    upstream.on("response", (incoming) => {
      response.writeHead(
        incoming.statusCode ?? 502,
        incoming.statusMessage,
        endToEndHeaders(incoming.rawHeaders),
      );
      response.flushHeaders();
      pipeline(incoming, response, () => {});
    });
    response.on("close", () => upstream.destroy());
    request.pipe(upstream);
  }

  function onConnect(request: http.IncomingMessage, client: Duplex, head: Buffer): void {
    track(client);
    const clientId = authenticate(request);
    const url = /^[^/?#@\s]+:\d{1,5}$/.test(request.url ?? "") ? URL.parse(`http://${request.url}`) : null;
    if (clientId === false || url === null) {
      if (url === null) endTunnel(client, "400 Bad Request");
      else endTunnel(client, "407 Proxy Authentication Required", `Proxy-Authenticate: ${challenge}\r\n`);
      return;
    }

    const { hostname, port } = hostAndPort(url);
    const shown = port === 443 ? `https://${url.hostname}/` : url.href;
    const fail = (cause: unknown) => {
      if (client.destroyed) return;
      const error = toGuardedFetchError(cause, url.host);
      const [name, reason] = report(shown, error, clientId);
      const status = error.kind === "refused" ? "403 Forbidden" : "502 Bad Gateway";
      endTunnel(client, status, `${name}: ${reason}\r\n`);
    };

    let upstream: net.Socket;
    try {
      const refusal = own?.refuseTunnel(hostname, port);
      if (refusal !== undefined) throw new GuardedFetchError("refused", refusal);
      upstream = net.connect({ ...route(hostname, port), noDelay: true, keepAlive: true });
    } catch (error) {
      fail(error);
      return;
    }
    track(upstream);
    const slow = setTimeout(() => upstream.destroy(timedOut(url.host)), connectTimeoutMs);
    upstream.on("error", fail);
    upstream.on("close", () => {
      clearTimeout(slow);
      client.end();
    });
    client.on("close", () => upstream.destroy());
    upstream.on("connect", () => {
      clearTimeout(slow);
      upstream.off("error", fail);
      client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      if (head.length > 0) upstream.write(head);
      // One side falling silent is usual; both being so, in either direction, is what this timer sees.
      upstream.setTimeout(idleTimeoutMs, () => upstream.destroy());
      upstream.pipe(client);
      client.pipe(upstream);
    });
  }

  function track(socket: Duplex): void {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    // A broken connection ends with its "close"; it must not end the process.
    socket.on("error", () => socket.destroy());
  }

  const server = http.createServer({ headersTimeout: headersTimeoutMs, requestTimeout: 0 }, onRequest);
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

const challenge = 'Basic realm="network"';

function answer(
  response: http.ServerResponse,
  status: number,
  headers: Record<string, string>,
  text = "",
): void {
  response.writeHead(status, {
    "content-type": "text/plain; charset=utf-8",
    "cache-control": "no-store",
    ...headers,
  });
  response.end(status === 204 ? undefined : text);
}

function endTunnel(client: Duplex, status: string, headerLines = ""): void {
  client.end(`HTTP/1.1 ${status}\r\n${headerLines}Content-Length: 0\r\nConnection: close\r\n\r\n`);
}

function timedOut(host: string): GuardedFetchError {
  return new GuardedFetchError("timeout", `${host} did not answer in time`);
}

/** Ends a request whose connection is not made in time; a connection kept alive has been made. */
function limitConnect(upstream: http.ClientRequest, timeoutMs: number): void {
  upstream.on("socket", (socket) => {
    if (!socket.connecting) return;
    const slow = setTimeout(() => upstream.destroy(timedOut(upstream.host)), timeoutMs);
    socket.once("connect", () => clearTimeout(slow));
    socket.once("close", () => clearTimeout(slow));
  });
}
