import type { IncomingMessage } from "node:http";
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { Duplex } from "node:stream";
import type { HostEndpoint } from "./open-link.ts";

const CONNECT_MS_MAX = 5_000;
/** Headers of the WebSocket handshake that the host needs. Compression is not offered. */
const HANDSHAKE = ["upgrade", "sec-websocket-key", "sec-websocket-version"];

/**
 * Connects a process's request for a link with the host, and then passes the bytes of each to the other. The two ends
 * of the link ping each other through this process, so a lost connection is noticed by both.
 *
 * @param path see `linkPath`.
 */
export function relayLink(
  { url, token }: HostEndpoint,
  path: string,
  { request, socket, head }: { request: IncomingMessage; socket: Duplex; head: Buffer },
): void {
  const address = new URL(path, url.replace(/^ws/, "http"));
  const headers = Object.fromEntries(HANDSHAKE.map((name) => [name, request.headers[name] ?? ""]));
  const outgoing = (address.protocol === "https:" ? requestHttps : requestHttp)(address, {
    headers: { ...headers, connection: "Upgrade", authorization: `Bearer ${token}` },
    timeout: CONNECT_MS_MAX,
    agent: false,
  });
  const refuse = (status: string) => socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
  socket.once("close", () => outgoing.destroy());
  outgoing.once("timeout", () => outgoing.destroy(new Error("the browser host does not answer")));
  outgoing.once("error", () => refuse("502 Bad Gateway"));
  outgoing.once("response", (response) => {
    response.destroy();
    refuse(response.statusCode === 426 ? "426 Upgrade Required" : "502 Bad Gateway");
  });
  outgoing.once("upgrade", (response, host, hostHead) => {
    const accept = response.headers["sec-websocket-accept"] ?? "";
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    host.setTimeout(0);
    socket.write(hostHead);
    host.write(head);
    host.on("error", () => socket.destroy()).once("close", () => socket.destroy());
    socket.once("close", () => host.destroy());
    socket.pipe(host).pipe(socket);
  });
  outgoing.end();
}
