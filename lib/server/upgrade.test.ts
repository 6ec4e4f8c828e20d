import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, Server, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { describe, it } from "node:test";
import { WebSocket, WebSocketServer } from "ws";
import { GET } from "#app/api/sessions/[sessionId]/live/route.ts";
import type { LiveHub, Upgrade } from "#lib/api/live/live-hub.ts";
import { listenForTests } from "./testing.ts";
import { createUpgradeHandler } from "./upgrade.ts";

const webSockets = new WebSocketServer({ noServer: true });
type Upgraded = ReturnType<Upgrade>;

/** Accepts the live socket of the session `good` and echoes its messages. Refuses all other sessions. */
const upgradeToWebSocket: LiveHub["upgradeToWebSocket"] = async (_request, { sessionId }, upgrade) => {
  if (sessionId === "broken") throw new Error("broken on purpose");
  if (sessionId !== "good") return Response.json({ error: "no such session" }, { status: 404 });
  const { req, socket, head } = upgrade();
  webSockets.handleUpgrade(req, socket, head, (webSocket) => {
    webSocket.on("message", (data, binary) => webSocket.send(data, { binary }));
  });
  return undefined;
};

/** Number of requests that were answered as ordinary ones. */
let answered = 0;

async function handleRequest(_req: IncomingMessage, res: ServerResponse): Promise<void> {
  answered += 1;
  res.end("an ordinary answer");
}

const hub = new Server();
const errors: unknown[] = [];
const server = createServer((req, res) => void handleRequest(req, res));
server.on(
  "upgrade",
  createUpgradeHandler({
    upgradeToWebSocket,
    handleRequest,
    baseUrl: "http://127.0.0.1",
    isDev: true,
    hub,
    onError: (error) => errors.push(error),
    checkHost: ({ headers }) =>
      headers.host === "rebound.example" ? "foreign" : headers.host === "two" ? "invalid" : "own",
  }),
);
const port = await listenForTests(server);

const open = (path: string) => new WebSocket(`ws://127.0.0.1:${port}${path}`);

/** Reads the whole response to a refused upgrade, until the server closes the connection. */
async function readRefusal(path: string, host = "localhost") {
  const socket = connect(port, "127.0.0.1");
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
  );
  return Buffer.concat(await socket.toArray()).toString();
}

describe("upgrades", () => {
  it("a session's live socket takes over the connection", async () => {
    const socket = open("/api/sessions/good/live?after=3");
    await once(socket, "open");
    socket.send("hello");
    const [echo] = await once(socket, "message");
    assert.equal(String(echo), "hello");
    socket.close();
    await once(socket, "close");
  });

  it("a refusal is sent completely before the connection closes", async () => {
    const answer = await readRefusal("/api/sessions/other/live");
    assert.match(answer, /^HTTP\/1\.1 404 /);
    assert.match(answer, /\r\nConnection: close\r\n/i);
    assert.match(answer, /\{"error":"no such session"\}/);
  });

  it("an exception becomes a 500 and is reported", async () => {
    assert.match(await readRefusal("/api/sessions/broken/live"), /^HTTP\/1\.1 500 /);
    assert.match(String(errors.at(-1)), /broken on purpose/);
  });

  it("an upgrade outside /api/ is a 404", async () => {
    assert.match(await readRefusal("/s/ses_a/live"), /^HTTP\/1\.1 404 /);
    assert.match(await readRefusal("/_next/webpack-hmr"), /^HTTP\/1\.1 404 /);
  });

  it("an upgrade of any other path under /api/ is answered as an ordinary request", async () => {
    assert.match(await readRefusal("/api/health"), /^HTTP\/1\.1 200 .*an ordinary answer$/s);
    assert.match(await readRefusal("/api/sessions/a%2Fb/live"), /an ordinary answer$/);
  });

  it("a foreign or invalid Host is refused before the request is handled", async () => {
    const before = answered;
    assert.match(await readRefusal("/api/health", "rebound.example"), /^HTTP\/1\.1 421 /);
    assert.match(await readRefusal("/api/sessions/good/live", "rebound.example"), /^HTTP\/1\.1 421 /);
    assert.match(await readRefusal("/api/sessions/good/live", "two"), /^HTTP\/1\.1 400 /);
    assert.equal(answered, before);
  });

  it("Next's development socket is passed to the hub", async (t) => {
    const take = (req: IncomingMessage, socket: Upgraded["socket"], head: Buffer) =>
      webSockets.handleUpgrade(req, socket, head, (webSocket) => webSocket.send("from the hub"));
    hub.on("upgrade", take);
    t.after(() => hub.off("upgrade", take));
    const socket = open("/_next/webpack-hmr");
    const [message] = await once(socket, "message");
    assert.equal(String(message), "from the hub");
    socket.close();
    await once(socket, "close");
  });

  it("a peer that resets its connection does not affect others", async () => {
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

describe("the route of the live socket on a platform that upgrades connections itself", () => {
  const request = new Request("http://127.0.0.1/api/sessions/good/live");
  const params = (sessionId: string) => ({ params: Promise.resolve({ sessionId }) });
  const mount = (globals: Record<string, unknown>) =>
    Object.assign(
      globalThis,
      Object.fromEntries(Object.entries(globals).map(([name, value]) => [Symbol.for(name), value])),
    );

  it("passes the platform's connection to the service, and returns the service's refusals", async (t) => {
    const upgraded: string[] = [];
    mount({
      "agent-session-service": {
        async upgradeToWebSocket(
          _request: Request,
          { sessionId }: { sessionId: string },
          upgrade: () => string,
        ) {
          if (sessionId !== "good") return new Response(null, { status: 404 });
          upgraded.push(upgrade());
          return undefined;
        },
      },
      "@vercel/request-context": { get: () => ({ upgradeWebSocket: () => "the connection" }) },
    });
    t.after(() => mount({ "agent-session-service": undefined, "@vercel/request-context": undefined }));
    assert.equal((await GET(request, params("good"))).status, 204);
    assert.deepEqual(upgraded, ["the connection"]);
    assert.equal((await GET(request, params("other"))).status, 404);
  });
});
