import http, { type ClientRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { pipeline } from "node:stream";
import { hostAndPort } from "../address/address-rule.ts";
import { GuardedFetchError, toGuardedFetchError } from "../fetch/guarded-fetch-error.ts";
import { type ProxyContext, routeTo, timedOut } from "./proxy-context.ts";
import { endToEndHeaders } from "./proxy-headers.ts";

/**
 * Forwards one plain http request to its server and streams the answer back. Answers 403 if the guard refuses the
 * request, 502 if the server cannot be reached, and 204 in both cases if the request is a navigation. Never throws.
 */
export function forwardRequest(
  context: ProxyContext,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  clientId: string | undefined,
): void {
  const fail = (cause: unknown) => {
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    const error = toGuardedFetchError(cause, url.host);
    const [name, reason] = context.report(url.href, error, clientId);
    // Chromium sends this header only with navigations. After a 204 answer, the browser stays on its current page.
    const isNavigation = request.headers["upgrade-insecure-requests"] === "1";
    const status = isNavigation ? 204 : error.kind === "refused" ? 403 : 502;
    answerRequest(response, status, { [name]: reason }, `${reason}\n`);
  };

  let upstream: ClientRequest;
  try {
    const headers = endToEndHeaders(request.rawHeaders, ["host", "expect"]);
    const isChunked = request.headers["transfer-encoding"] !== undefined;
    upstream = http.request({
      ...routeRequest(context, url),
      agent: context.agent,
      method: request.method ?? "GET",
      path: url.pathname + url.search,
      headers: ["Host", url.host, ...headers, ...(isChunked ? ["Transfer-Encoding", "chunked"] : [])],
      setHost: false,
    });
  } catch (error) {
    fail(error);
    return;
  }
  limitConnect(upstream, url.host, context.connectTimeoutMs);
  upstream.setTimeout(context.idleTimeoutMs, () => upstream.destroy(timedOut(url.host)));
  upstream.on("error", fail);
  upstream.on("response", (incoming) => {
    try {
      response.writeHead(incoming.statusCode ?? 502, endToEndHeaders(incoming.rawHeaders));
      response.flushHeaders();
    } catch (error) {
      // Node's client accepts some statuses, such as 099, for which `writeHead` throws.
      upstream.destroy();
      fail(error);
      return;
    }
    pipeline(incoming, response, () => {});
  });
  response.on("close", () => upstream.destroy());
  request.pipe(upstream);
}

function routeRequest(context: ProxyContext, url: URL) {
  const ours = context.own?.resolve(url);
  if (ours === undefined) {
    const { hostname, port } = hostAndPort(url);
    return routeTo(context, hostname, port);
  }
  if ("reason" in ours) throw new GuardedFetchError("refused", ours.reason);
  return { host: ours.hostname, port: ours.port };
}

/** Fails a request if its socket does not connect in time. */
function limitConnect(upstream: ClientRequest, host: string, timeoutMs: number): void {
  upstream.on("socket", (socket) => {
    const slow = setTimeout(() => upstream.destroy(timedOut(host)), timeoutMs);
    socket.once("connect", () => clearTimeout(slow));
    socket.once("close", () => clearTimeout(slow));
  });
}

/** Writes the proxy's own answer: a status, its headers and a line of text. */
export function answerRequest(
  response: ServerResponse,
  status: number,
  headers: Record<string, string>,
  text = "",
): void {
  const own = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" };
  response.writeHead(status, { ...own, ...headers });
  response.end(status === 204 ? undefined : text);
}
