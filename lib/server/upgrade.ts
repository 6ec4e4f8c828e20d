import { AsyncLocalStorage } from "node:async_hooks";
import { type IncomingMessage, type Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";

/** A connection taken away from HTTP. */
type Upgraded = { req: IncomingMessage; socket: Duplex; head: Buffer };

type RequestContext = { upgradeWebSocket: () => Upgraded };

/** Where route handlers look for the request at hand; the name is Vercel's, so that one route file serves both. */
const REQUEST_CONTEXT = Symbol.for("@vercel/request-context");

const contexts = new AsyncLocalStorage<RequestContext>();

type Parts = {
  /** Next's request handler. */
  handleRequest: (req: IncomingMessage, res: ServerResponse) => Promise<void>;
  isDev: boolean;
  /** The server, listening nowhere, that Next was given for its development socket. */
  hub?: Server | undefined;
  /** Whether a `Host` header names this service; all do by default. */
  isAllowedHost?: (host: string | undefined) => boolean;
  onError?: (error: unknown) => void;
};

/**
 * What the HTTP server does on `upgrade`: a request under `/api/` goes through Next like any other, and its route may
 * take the connection over or refuse it with an ordinary answer; Next's development socket goes to the hub; anything
 * else is a 404, and another service's name a 421. Never throws. Source: `facts.md`, Next 16.4 with a custom server and WebSockets.
 */
export function createUpgradeHandler({
  handleRequest,
  isDev,
  hub,
  isAllowedHost = () => true,
  onError = () => {},
}: Parts) {
  Object.assign(globalThis, { [REQUEST_CONTEXT]: { get: () => contexts.getStore() } });

  return (req: IncomingMessage, socket: Duplex, head: Buffer): void => {
    // A peer that vanishes is no error of ours; without a listener it would end the process.
    socket.on("error", () => {});
    const url = req.url ?? "";
    if (!isAllowedHost(req.headers.host)) refuse(socket, "421 Misdirected Request");
    else if (url.startsWith("/api/")) void passToNext(req, socket, head);
    else if (!(isDev && url.startsWith("/_next/") && hub?.emit("upgrade", req, socket, head)))
      refuse(socket, "404 Not Found");
  };

  async function passToNext(req: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const res = new ServerResponse(req);
    const sink = createSink();
    let isTaken = false;
    res.shouldKeepAlive = false;
    // An HTTP server's connections are net or TLS sockets.
    res.assignSocket(socket as Socket);
    // Ended, not destroyed: what was written reaches the peer first.
    res.once("finish", () => {
      if (isTaken) sink.destroy();
      else (socket as Socket).destroySoon();
    });

    const upgradeWebSocket = (): Upgraded => {
      if (isTaken || res.headersSent) throw new Error("the connection was answered or taken over before");
      isTaken = true;
      res.detachSocket(socket as Socket);
      res.assignSocket(sink);
      return { req, socket, head };
    };

    try {
      await contexts.run({ upgradeWebSocket }, () => handleRequest(req, res));
    } catch (error) {
      onError(error);
      if (!isTaken && !res.headersSent) res.writeHead(500, { "content-length": 0 });
      if (!isTaken) res.end();
    }
    if (!isTaken && !res.writableEnded) socket.destroy();
  }
}

/** Takes the answer that a route gives after it took the connection over; it ends with the answer. */
function createSink(): Socket {
  const sink = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
  // A response needs no more of its socket than a stream has.
  return sink as Socket;
}

function refuse(socket: Duplex, status: string): void {
  if (!socket.writable) return void socket.destroy();
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy());
}
