import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
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
