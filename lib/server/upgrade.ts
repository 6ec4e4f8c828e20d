import { type IncomingMessage, type Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { LiveTarget } from "#lib/api/live/admit-viewer.ts";
import type { LiveHub, Upgrade } from "#lib/api/live/live-hub.ts";
import { withAddress } from "#lib/security-log/request-address.ts";
import type { HostVerdict } from "./check-host.ts";
import { sendResponse, toWebRequest } from "./web-messages.ts";

type Parts = {
  upgradeToWebSocket: LiveHub["upgradeToWebSocket"];
  /** Answers a request as if it had no `Upgrade` header. */
  handleRequest: (req: IncomingMessage, res: ServerResponse) => Promise<void>;
  /** Public origin of the service. */
  baseUrl: string;
  isDev: boolean;
  /** A server that does not listen, on which Next handles its development sockets. */
  hub?: Server | undefined;
  /** Checks the `Host` of a request; by default every host is accepted. */
  checkHost?: (request: IncomingMessage) => HostVerdict;
  /** Returns the address of the client; by default the peer of the connection. */
  addressOf?: (request: IncomingMessage) => string | undefined;
  /** Relays the links of other processes to browser hosts. @returns whether the request was for such a link. */
  relayToHost?: ((request: IncomingMessage, socket: Duplex, head: Buffer) => boolean) | undefined;
  onError?: (error: unknown) => void;
};

/**
 * Creates the `upgrade` listener of the HTTP server. A request for a session's live socket takes over the connection,
 * or gets an ordinary error response. Any other request under `/api/` is answered as if it had no `Upgrade` header.
 * A link of another process to a browser host is relayed. Next's development socket goes to the hub. All other paths get a 404. An invalid `Host` gets a 400. The `Host` of
 * another site, or of the landing pages (`pages`), gets a 421. Never throws.
 */
export function createUpgradeHandler({
  upgradeToWebSocket,
  handleRequest,
  baseUrl,
  isDev,
  hub,
  checkHost = () => "own",
  addressOf = (request) => request.socket.remoteAddress,
  relayToHost = () => false,
  onError = () => {},
}: Parts) {
  return (req: IncomingMessage, socket: Duplex, head: Buffer): void => {
    // Ignore connection errors. Without a listener, they would crash the process.
    socket.on("error", () => {});
    // Other processes use a private address of this one, which is no allowed host.
    if (relayToHost(req, socket, head)) return;
    const host = checkHost(req);
    const url = req.url ?? "";
    const isOurs = url.startsWith("/api/") || readLiveAddress(url, baseUrl) !== undefined;
    if (host === "invalid") refuse(socket, "400 Bad Request");
    else if (host !== "own") refuse(socket, "421 Misdirected Request");
    else if (isOurs) void withAddress(addressOf(req), () => answer(req, socket, head));
    else if (!(isDev && url.startsWith("/_next/") && hub?.emit("upgrade", req, socket, head)))
      refuse(socket, "404 Not Found");
  };

  async function answer(req: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const res = new ServerResponse(req);
    let isTaken = false;
    res.shouldKeepAlive = false;
    // The casts are safe because the connections of an HTTP server are net or TLS sockets.
    res.assignSocket(socket as Socket);
    // `destroySoon` sends the written data before it closes the socket.
    res.once("finish", () => (socket as Socket).destroySoon());

    const upgrade: Upgrade = () => {
      if (isTaken || res.headersSent) throw new Error("the connection was already answered or taken over");
      isTaken = true;
      res.detachSocket(socket as Socket);
      return { req, socket, head };
    };

    try {
      const live = readLiveAddress(req.url ?? "", baseUrl);
      if (live) await open(live, req, res, upgrade);
      else await handleRequest(req, res);
    } catch (error) {
      onError(error);
      if (!isTaken && !res.headersSent) res.writeHead(500, { "content-length": 0 });
      if (!isTaken) res.end();
    }
    if (!isTaken && !res.writableEnded) socket.destroy();
  }

  async function open(
    { url, target }: LiveAddress,
    req: IncomingMessage,
    res: ServerResponse,
    upgrade: Upgrade,
  ): Promise<void> {
    const refusal = await upgradeToWebSocket(toWebRequest(req, res, url), target, upgrade);
    if (refusal) await sendResponse(res, refusal);
  }
}

type LiveAddress = { url: URL; target: LiveTarget };

/** Returns the session or sub-agent whose live socket has this address; undefined for any other address. */
function readLiveAddress(address: string, baseUrl: string): LiveAddress | undefined {
  const url = URL.parse(address, baseUrl);
  const path = url?.pathname ?? "";
  const [, sessionId, agentId] =
    /^\/api\/sessions\/([\w-]+)\/live$/.exec(path) ??
    /^\/s\/([\w-]+)\/agents\/([\w-]+)\/live$/.exec(path) ??
    [];
  return url && sessionId !== undefined ? { url, target: { sessionId, agentId } } : undefined;
}

function refuse(socket: Duplex, status: string): void {
  if (!socket.writable) return void socket.destroy();
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy());
}
