import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { after, describe, it } from "node:test";
import { WebSocket, WebSocketServer } from "ws";
import { GET } from "#app/api/sessions/[sessionId]/live/route.ts";
import { createUpgradeHandler } from "./upgrade.ts";

const CONTAINER = Symbol.for("agent-session-service");
const webSockets = new WebSocketServer({ noServer: true });
type LiveService = {
  openLive: (request: Request, params: { sessionId: string }, upgrade: () => Upgraded) => unknown;
};
type Upgraded = { req: IncomingMessage; socket: import("node:stream").Duplex; head: Buffer };

/** Echoes for the session `good`, refuses every other. */
const service: LiveService = {
  async openLive(_request, { sessionId }, upgrade) {
    if (sessionId === "broken") throw new Error("broken on purpose");
    if (sessionId !== "good") return Response.json({ error: "no such session" }, { status: 404 });
    const { req, socket, head } = upgrade();
    webSockets.handleUpgrade(req, socket, head, (webSocket) => {
      webSocket.on("message", (data, binary) => webSocket.send(data, { binary }));
    });
    return undefined;
  },
};
Object.assign(globalThis, { [CONTAINER]: service });

/** Answers that were finished, taken-over ones too: none may hang. */
let finished = 0;

/** What Next does with a route: a Request from the message, the Response into the answer. */
async function handleRequest(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const sessionId = req.url?.split("/")[3] ?? "";
  const request = new Request(`http://127.0.0.1${req.url}`, {
    headers: req.headers as Record<string, string>,
  });
  const response = await GET(request, { params: Promise.resolve({ sessionId }) });
  const done = once(res, "close");
  res.writeHead(response.status, Object.fromEntries(response.headers));
  res.end(Buffer.from(await response.arrayBuffer()));
  await done;
  finished += 1;
}

const hub = new Server();
const errors: unknown[] = [];
const server = createServer((req, res) => void handleRequest(req, res));
server.on(
  "upgrade",
  createUpgradeHandler({
    ...{ handleRequest, isDev: true, hub, onError: (error) => errors.push(error) },
    isAllowedHost: (host) => host !== "rebound.example",
  }),
);
server.listen(0, "127.0.0.1");
await once(server, "listening");
const { port } = server.address() as AddressInfo;
after(() => {
  server.close();
  server.closeAllConnections();
});

const open = (path: string) => new WebSocket(`ws://127.0.0.1:${port}${path}`);

/** The whole answer to an upgrade that is refused: it ends only when the server closes the connection. */
async function readRefusal(path: string, host = "localhost") {
  const socket = connect(port, "127.0.0.1");
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
  );
  return Buffer.concat(await socket.toArray()).toString();
}

describe("upgrades", () => {
  it("a route takes its connection over through the request context, and its answer ends", async () => {
    const before = finished;
    const socket = open("/api/sessions/good/live");
    await once(socket, "open");
    socket.send("hello");
    const [echo] = await once(socket, "message");
    assert.equal(String(echo), "hello");
    assert.equal(finished, before + 1);
    socket.close();
    await once(socket, "close");
  });

  it("a refusal reaches the client whole, then the connection closes", async () => {
    const answer = await readRefusal("/api/sessions/other/live");
    assert.match(answer, /^HTTP\/1\.1 404 /);
    assert.match(answer, /\r\nConnection: close\r\n/i);
    assert.match(answer, /\{"error":"no such session"\}/);
  });

  it("a route that throws is a 500, and is reported", async () => {
    assert.match(await readRefusal("/api/sessions/broken/live"), /^HTTP\/1\.1 500 /);
    assert.match(String(errors.at(-1)), /broken on purpose/);
  });

  it("outside /api/ there is nothing to upgrade to", async () => {
    assert.match(await readRefusal("/s/ses_a/live"), /^HTTP\/1\.1 404 /);
    assert.match(await readRefusal("/_next/webpack-hmr"), /^HTTP\/1\.1 404 /);
  });

  it("another service's name is refused before any route sees it", async () => {
    const before = finished;
    assert.match(await readRefusal("/api/sessions/good/live", "rebound.example"), /^HTTP\/1\.1 421 /);
    assert.equal(finished, before);
  });

  it("Next's development socket goes to the hub", async (t) => {
    const take = (req: IncomingMessage, socket: Upgraded["socket"], head: Buffer) =>
      webSockets.handleUpgrade(req, socket, head, (webSocket) => webSocket.send("from the hub"));
    hub.on("upgrade", take);
    t.after(() => hub.off("upgrade", take));
    const socket = open("/_next/webpack-hmr");
    const [said] = await once(socket, "message");
    assert.equal(String(said), "from the hub");
    socket.close();
    await once(socket, "close");
  });

  it("a peer that resets the connection in the middle harms nobody", async () => {
    for (const path of ["/api/sessions/good/live", "/api/sessions/other/live", "/nowhere"]) {
      const socket = connect(port, "127.0.0.1");
      await once(socket, "connect");
      socket.write(
        `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
      );
      socket.resetAndDestroy();
      await once(socket, "close");
    }
    const socket = open("/api/sessions/good/live");
    await once(socket, "open");
    socket.close();
    await once(socket, "close");
  });
});
