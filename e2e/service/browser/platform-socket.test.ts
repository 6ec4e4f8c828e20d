import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, it } from "node:test";
import { WebSocket } from "ws";
import { GET } from "#app/api/sessions/[sessionId]/live/route.ts";
import type { Upgrade } from "#lib/api/live/live-hub.ts";
import { openTestService, TEST_KEY, type TestService, waitUntil } from "../testing.ts";

// On Vercel, the platform calls the route of the socket and provides a function that upgrades the connection. The
// server below simulates this.
let service: TestService;
const contexts = new AsyncLocalStorage<{ upgradeWebSocket: Upgrade }>();
const server = createServer();
let origin: string;

before(async () => {
  service = await openTestService();
  Object.assign(globalThis, {
    [Symbol.for("agent-session-service")]: service.container.mounted,
    [Symbol.for("@vercel/request-context")]: { get: () => contexts.getStore() },
  });
  server.on("upgrade", (req, socket, head) => {
    const url = new URL(req.url ?? "/", origin);
    const headers = new Headers(req.headers as Record<string, string>);
    const [, sessionId = ""] = /^\/api\/sessions\/([^/]+)\/live$/.exec(url.pathname) ?? [];
    contexts.run({ upgradeWebSocket: () => ({ req, socket, head }) }, async () => {
      const answer = await GET(new Request(url, { headers }), { params: Promise.resolve({ sessionId }) });
      if (answer.status !== 204) socket.end(`HTTP/1.1 ${answer.status} Refused\r\nContent-Length: 0\r\n\r\n`);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(async () => {
  Reflect.deleteProperty(globalThis, Symbol.for("agent-session-service"));
  Reflect.deleteProperty(globalThis, Symbol.for("@vercel/request-context"));
  await service.close();
  server.closeAllConnections();
  server.close();
});

const connect = (sessionId: string, key: string) =>
  new WebSocket(new URL(`/api/sessions/${sessionId}/live?after=0`, origin.replace("http", "ws")), {
    headers: { authorization: `Bearer ${key}` },
  });

it("a socket that the platform upgrades replays the session and receives its events", async () => {
  service.model.respondWith(() => ({ text: "Heard." }));
  const session = await service.create("Speak");
  const socket = connect(session.sessionId, TEST_KEY);
  const types: string[] = [];
  socket.on("message", (data, isBinary) => {
    if (!isBinary) types.push((JSON.parse(String(data)) as { type: string }).type);
  });
  await waitUntil(() => types.includes("run.completed"), "the end of the run has arrived");
  assert.ok(types.includes("run.started"));
  const closed = once(socket, "close");
  socket.close();
  await closed;
});

it("a wrong key is refused before the upgrade", async () => {
  const session = await service.create("Be quiet");
  const [error] = await once(connect(session.sessionId, "wrong"), "error");
  assert.match(String(error), /401/);
  await service.completed(session.statusUrl);
});
