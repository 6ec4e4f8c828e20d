import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { type WebSocket as ServerSocket, WebSocketServer } from "ws";
import { createLiveConnection, type LiveStatus } from "./live-connection.ts";

/** Starts a WebSocket server and creates a connection to it. `until` waits for a status with the given state. */
async function connect(
  t: { after: (end: () => void) => void },
  { isRefused = false, hasAccess }: { isRefused?: boolean; hasAccess?: () => Promise<boolean> } = {},
) {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0, verifyClient: () => !isRefused });
  await once(server, "listening");
  const statuses: LiveStatus[] = [];
  let wake = () => {};
  const connection = createLiveConnection({
    path: "/live",
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lastSeq: () => 7,
    onFrame: () => {},
    onPicture: () => {},
    onStatus(status) {
      statuses.push(status);
      wake();
    },
    random: () => 0,
    ...(hasAccess && { hasAccess }),
  });
  t.after(() => {
    connection.stop();
    for (const client of server.clients) client.terminate();
    server.close();
  });
  const nextSocket = async () => (await once(server, "connection")) as [ServerSocket, { url: string }];
  const until = async (state: LiveStatus["state"]): Promise<LiveStatus> => {
    for (;;) {
      const found = statuses.find((status) => status.state === state);
      if (found) return found;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  return { connection, nextSocket, until };
}

const ready = JSON.stringify({
  type: "ready",
  seq: 7,
  sessionId: "ses_a",
  timestamp: "",
  data: { role: "drive", watching: 1 },
});

test("it resumes after the last event and is open once the service says ready", async (t) => {
  const { connection, nextSocket, until } = await connect(t);
  const first = nextSocket();
  connection.start();
  const [socket, request] = await first;
  assert.equal(request.url, "/live?after=7");
  socket.send(ready);
  await until("open");
});

test("it reconnects after a loss and follows the live view again", async (t) => {
  const { connection, nextSocket, until } = await connect(t);
  connection.setViewing(true);
  const first = nextSocket();
  connection.start();
  const [socket] = await first;
  const second = nextSocket();
  socket.terminate();
  assert.deepEqual(await until("reconnecting"), { state: "reconnecting", attempt: 1, isOverloaded: false });
  const [again] = await second;
  const [frame] = (await once(again, "message")) as [Buffer];
  assert.equal(String(frame), '{"type":"view.subscribe"}');
});

for (const [code, reason] of [
  [4001, "unauthorized"],
  [4003, "forbidden"],
  [4004, "not found"],
] as const) {
  test(`close code ${code} is final: ${reason}`, async (t) => {
    const { connection, nextSocket, until } = await connect(t);
    const first = nextSocket();
    connection.start();
    const [socket] = await first;
    socket.close(code);
    assert.deepEqual(await until("closed"), { state: "closed", reason });
  });
}

test("close code 1013 means try later", async (t) => {
  const { connection, nextSocket, until } = await connect(t);
  const first = nextSocket();
  connection.start();
  const [socket] = await first;
  socket.close(1013);
  assert.deepEqual(await until("reconnecting"), { state: "reconnecting", attempt: 1, isOverloaded: true });
});

test("a refused connection ends if the page may no longer be opened", async (t) => {
  const { connection, until } = await connect(t, { isRefused: true, hasAccess: async () => false });
  connection.start();
  assert.deepEqual(await until("closed"), { state: "closed", reason: "unauthorized" });
});

for (const [what, hasAccess] of [
  ["the page may still be opened", async () => true],
  ["access cannot be checked", () => Promise.reject(new Error("no network"))],
] as [string, () => Promise<boolean>][])
  test(`a refused connection is retried while ${what}`, async (t) => {
    let checks = 0;
    const { connection, until } = await connect(t, {
      isRefused: true,
      hasAccess() {
        checks += 1;
        if (checks === 2) end.resolve();
        return hasAccess();
      },
    });
    const end = Promise.withResolvers<void>();
    connection.start();
    await end.promise;
    assert.deepEqual(await until("reconnecting"), { state: "reconnecting", attempt: 1, isOverloaded: false });
  });

test("an access check of an earlier start does not end the next one", async (t) => {
  const firstCheck = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<boolean>();
  let times = 0;
  const { connection, until } = await connect(t, {
    isRefused: true,
    hasAccess() {
      times += 1;
      firstCheck.resolve();
      return times === 1 ? answer.promise : Promise.resolve(true);
    },
  });
  connection.start();
  await firstCheck.promise;
  connection.stop();
  connection.start();
  answer.resolve(false);
  await new Promise((resolve) => setImmediate(resolve));
  await assert.rejects(
    Promise.race([until("closed"), Promise.reject(new Error("still trying"))]),
    /still trying/,
  );
});

/** A socket whose network is in the hands of the test. */
class FakeSocket extends EventTarget {
  readyState = 0;
  sent: string[] = [];
  isClosed = false;
  send(text: string): void {
    this.sent.push(text);
  }
  close(): void {
    this.isClosed = true;
  }
  open(): void {
    this.readyState = 1;
    this.dispatchEvent(new Event("open"));
  }
  receive(data: string): void {
    this.dispatchEvent(Object.assign(new Event("message"), { data }));
  }
}

/** Connects through fake sockets, with timers that the test moves. */
function connectFake(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"] });
  const sockets: FakeSocket[] = [];
  const statuses: LiveStatus[] = [];
  const connection = createLiveConnection({
    path: "/live",
    origin: "http://service",
    lastSeq: () => 7,
    onFrame: () => {},
    onPicture: () => {},
    onStatus: (status) => statuses.push(status),
    random: () => 0.5,
    openSocket() {
      const socket = new FakeSocket();
      sockets.push(socket);
      return socket as unknown as WebSocket;
    },
  });
  t.after(() => connection.stop());
  connection.start();
  const tick = (ms: number) => {
    for (let at = 0; at < ms; at += 500) t.mock.timers.tick(500);
  };
  return { sockets, statuses, tick, at: (index: number) => sockets[index] ?? assert.fail("no socket") };
}

test("a socket that is open and silent is given up within 20 s, and a new one resumes", (t) => {
  const { sockets, statuses, tick, at } = connectFake(t);
  at(0).open();
  at(0).receive(ready);
  tick(9_500);
  assert.deepEqual(at(0).sent, []);
  tick(500);
  assert.deepEqual(at(0).sent, ['{"type":"ping"}']);
  at(0).receive('{"type":"pong"}');
  tick(10_000);
  assert.equal(statuses.at(-1)?.state, "open");
  tick(8_000);
  assert.deepEqual(statuses.at(-1), { state: "reconnecting", attempt: 1, isOverloaded: false });
  assert.equal(at(0).isClosed, true);
  tick(500);
  at(1).open();
  at(1).receive(ready);
  assert.equal(statuses.at(-1)?.state, "open");
  // What the old socket still delivers is ignored.
  at(0).dispatchEvent(Object.assign(new Event("close"), { code: 1006 }));
  assert.equal(statuses.at(-1)?.state, "open");
  assert.equal(sockets.length, 2);
});

test("any message within 8 s of a ping keeps the connection", (t) => {
  const { statuses, tick, at } = connectFake(t);
  at(0).open();
  at(0).receive(ready);
  tick(10_000);
  tick(7_500);
  at(0).receive('{"type":"watching"}');
  tick(2_000);
  assert.equal(statuses.at(-1)?.state, "open");
});

test("a socket that is never accepted is given up", (t) => {
  const { statuses, tick, at } = connectFake(t);
  at(0).open();
  tick(19_500);
  assert.equal(statuses.at(-1)?.state, "connecting");
  tick(500);
  assert.equal(statuses.at(-1)?.state, "reconnecting");
});
