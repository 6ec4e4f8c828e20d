import net from "node:net";
import type { Duplex } from "node:stream";
import { hostAndPort } from "../address/address-rule.ts";
import { GuardedFetchError, toGuardedFetchError } from "../fetch/guarded-fetch-error.ts";
import { type ProxyContext, routeTo, timedOut } from "./proxy-context.ts";

/**
 * Opens a CONNECT tunnel between the client's socket and the host and port of `url`. The tunnel forwards data in both
 * directions until one side ends, or until neither side has sent data for the idle time. `head` contains bytes that the
 * client sent right after its request. Never throws.
 *
 * @returns the connection to the server, before it is established; if connecting fails, the connection is closed.
 * Undefined if the destination is refused immediately, without a DNS query.
 */
export function openTunnel(
  context: ProxyContext,
  client: Duplex,
  head: Uint8Array,
  url: URL,
  clientId: string | undefined,
): net.Socket | undefined {
  const { hostname, port } = hostAndPort(url);
  const fail = (cause: unknown) => {
    if (client.destroyed) return;
    const error = toGuardedFetchError(cause, url.host);
    const shown = port === 443 ? `https://${url.hostname}/` : url.href;
    const [name, reason] = context.report(shown, error, clientId);
    const status = error.kind === "refused" ? "403 Forbidden" : "502 Bad Gateway";
    refuseTunnel(client, status, `${name}: ${reason}\r\n`);
  };

  let upstream: net.Socket;
  try {
    const refusal = context.own?.refuseTunnel(hostname, port);
    if (refusal !== undefined) throw new GuardedFetchError("refused", refusal);
    upstream = net.connect({ ...routeTo(context, hostname, port), noDelay: true, keepAlive: true });
  } catch (error) {
    fail(error);
    return undefined;
  }
  const slow = setTimeout(() => upstream.destroy(timedOut(url.host)), context.connectTimeoutMs);
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
    // Every byte in either direction restarts this timeout.
    upstream.setTimeout(context.idleTimeoutMs, () => upstream.destroy());
    upstream.pipe(client);
    client.pipe(upstream);
  });
  return upstream;
}

/** Answers a CONNECT request with a status other than 200, such as "403 Forbidden", and ends the connection. */
export function refuseTunnel(client: Duplex, status: string, headerLines = ""): void {
  client.end(`HTTP/1.1 ${status}\r\n${headerLines}Content-Length: 0\r\nConnection: close\r\n\r\n`);
}
