import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { WebSocket } from "ws";
import { WebSocketServer } from "ws";
import type { HostIdentity } from "./identify-host.ts";
import { MESSAGE_BYTES_MAX, PROTOCOL_VERSION } from "./link-message.ts";

/** Where a browser host listens for processes of the service. */
export type LinkListener = { port: number; close: () => Promise<void> };

/**
 * Listens for links, and for requests for the host's identity. A request without the token gets 401, and a process with another protocol version 426; neither
 * opens a socket.
 *
 * @param options.address the address to listen on; port 0 chooses a free port.
 * @param options.onOtherVersion called when a process with the right token has another protocol version.
 * @param options.tls certificate and private key, in PEM; without them the connections are not encrypted.
 */
export async function listenForLinks(options: {
  address: { host: string; port: number };
  token: string;
  onSocket: (socket: WebSocket) => void;
  onOtherVersion: (protocol: number) => void;
  identity: Omit<HostIdentity, "protocol">;
  tls?: { cert: string; key: string } | undefined;
}): Promise<LinkListener> {
  const { address, token, onSocket, onOtherVersion, identity, tls } = options;
  function answer(request: IncomingMessage, response: ServerResponse): void {
    const protocol = readVersion(request, "host");
    const status = !isAdmitted(request, token) ? 401 : protocol === undefined ? 404 : 200;
    response.writeHead(status, { connection: "close" });
    if (status !== 200 || protocol === undefined) return void response.end();
    if (protocol !== PROTOCOL_VERSION) onOtherVersion(protocol);
    response.end(JSON.stringify({ ...identity, protocol: PROTOCOL_VERSION }));
  }
  const http = tls ? createTlsServer(tls, answer) : createServer(answer);
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MESSAGE_BYTES_MAX,
    perMessageDeflate: false,
  });
  http.on("upgrade", (request, socket, head) => {
    const refuse = (status: string) => socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
    socket.on("error", () => socket.destroy());
    if (!isAdmitted(request, token)) return refuse("401 Unauthorized");
    const protocol = readVersion(request, "link");
    if (protocol !== PROTOCOL_VERSION) {
      if (protocol !== undefined) onOtherVersion(protocol);
      return refuse("426 Upgrade Required");
    }
    sockets.handleUpgrade(request, socket, head, onSocket);
  });
  await new Promise<void>((resolve, reject) => {
    http.once("error", reject);
    http.listen(address.port, address.host, resolve);
  });
  return {
    // A server that listens on TCP has an address with a port.
    port: (http.address() as AddressInfo).port,
    async close() {
      for (const socket of sockets.clients) socket.close(1001, "the browser host ends");
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

/** Returns the protocol version at the end of the path; undefined for another path. */
function readVersion({ url = "" }: IncomingMessage, name: "host" | "link"): number | undefined {
  const [, first, version] = /^\/(host|link)\/(\d{1,6})$/.exec(url) ?? [];
  return first === name ? Number(version) : undefined;
}

function isAdmitted({ headers }: IncomingMessage, token: string): boolean {
  const hash = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(headers.authorization ?? ""), hash(`Bearer ${token}`));
}
