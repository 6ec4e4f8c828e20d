import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { WebSocket } from "ws";
import { WebSocketServer } from "ws";
import { MESSAGE_BYTES_MAX, PROTOCOL_VERSION } from "./link-message.ts";

/** Where a browser host listens for processes of the service. */
export type LinkListener = { port: number; close: () => Promise<void> };

/** The path at which a host accepts links. The number is the protocol version of the process that connects. */
export const linkPath = (protocol: number): string => `/link/${protocol}`;

/**
 * Listens for links. A request without the token gets 401, and a process with another protocol version 426; neither
 * opens a socket.
 *
 * @param options.address the address to listen on; port 0 chooses a free port.
 * @param options.onOtherVersion called when a process with the right token has another protocol version.
 */
export async function listenForLinks(options: {
  address: { host: string; port: number };
  token: string;
  onSocket: (socket: WebSocket) => void;
  onOtherVersion: (protocol: number) => void;
}): Promise<LinkListener> {
  const { address, token, onSocket, onOtherVersion } = options;
  const http = createServer((request, response) => {
    const status = isAdmitted(request, token) ? 404 : 401;
    response.writeHead(status, { connection: "close" }).end();
  });
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MESSAGE_BYTES_MAX,
    perMessageDeflate: false,
  });
  http.on("upgrade", (request, socket, head) => {
    const refuse = (status: string) => socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
    socket.on("error", () => socket.destroy());
    if (!isAdmitted(request, token)) return refuse("401 Unauthorized");
    const protocol = Number(/^\/link\/(\d{1,6})$/.exec(request.url ?? "")?.[1] ?? Number.NaN);
    if (protocol !== PROTOCOL_VERSION) {
      if (Number.isInteger(protocol)) onOtherVersion(protocol);
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

function isAdmitted({ headers }: IncomingMessage, token: string): boolean {
  const hash = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(headers.authorization ?? ""), hash(`Bearer ${token}`));
}
