import assert from "node:assert/strict";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { createAddressRule } from "../address/address-rule.ts";
import { isGuardedFetchError } from "./guarded-fetch-error.ts";
import { createGuardedPost } from "./guarded-post.ts";

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/** One request that the server received: the number of its connection, from 1, and its text. */
type Received = { connection: number; text: string };

/** Starts a server that passes each request to `answer`, with its socket. All requests have the body `{"a":1}`. */
async function serve(t: TestContext, answer: (socket: Socket, received: Received) => void) {
  const received: Received[] = [];
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    const connection = connections;
    let text = "";
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      text += chunk;
      if (!text.endsWith('{"a":1}')) return;
      const request = { connection, text };
      text = "";
      received.push(request);
      answer(socket, request);
    });
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const guardedPost = createGuardedPost(createAddressRule({ allow: ["127.0.0.1"] }));
  t.after(() => {
    guardedPost.close();
    server.close();
  });
  const post = ({ timeoutMs = 5_000, maxBytes = 1_000 } = {}) =>
    guardedPost(url, {
      headers: { "X-Id": "whd-1" },
      body: Buffer.from('{"a":1}'),
      timeoutMs,
      maxBytes,
      purpose: { source: "callback" },
    });
  return { received, post };
}

const answers: [title: string, answer: string, status: number][] = [
  ["an unrequested 100 Continue", `HTTP/1.1 100 Continue\r\n\r\n${OK}`, 200],
  [
    "102 and 103 before the status",
    `HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${OK}`,
    200,
  ],
  ["gzip without bytes", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 0\r\n\r\n", 200],
  [
    "gzip with invalid bytes",
    "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc",
    200,
  ],
  ["204 with a body", "HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\nbody", 204],
  ["an invalid chunk", "HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\nzz\r\n", 202],
  ["surplus bytes after the body", `${OK}surplus`, 200],
  [
    "500 with gzip without bytes",
    "HTTP/1.1 500 Oops\r\nContent-Encoding: gzip\r\nContent-Length: 0\r\n\r\n",
    500,
  ],
  ["an unrequested upgrade", "HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n", 101],
];
for (const [title, answer, status] of answers)
  test(`${title}: the status counts, and the next post is answered correctly`, async (t) => {
    const { received, post } = await serve(t, (socket) => socket.write(received.length === 1 ? answer : OK));
    assert.equal((await post()).status, status);
    assert.equal((await post()).status, 200);
    assert.equal(received.length, 2);
  });

const endings: [title: string, answer: string][] = [
  ["a body that is shorter than its Content-Length", "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nok"],
  ["a chunked body without its end", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n"],
  ["HTTP/1.0 without a length", "HTTP/1.0 200 OK\r\n\r\nok"],
];
for (const [title, answer] of endings)
  test(`${title}: the status counts, if the connection ends or stays open`, async (t) => {
    const { received, post } = await serve(t, (socket) => {
      if (received.length === 1) socket.end(answer);
      else socket.write(answer);
    });
    for (const count of [1, 2]) {
      const { status, body } = await post();
      assert.deepEqual([status, Buffer.from(body).toString(), received.length], [200, "ok", count]);
    }
  });

test("the body is read up to the limit", async (t) => {
  const { post } = await serve(t, (socket) =>
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n${"x".repeat(100_000)}`),
  );
  assert.equal((await post({ maxBytes: 10 })).body.length, 10);
});

test("connections are reused", async (t) => {
  const { received, post } = await serve(t, (socket) => socket.write(OK));
  for (let count = 0; count < 3; count++) await post();
  assert.deepEqual(
    received.map(({ connection }) => connection),
    [1, 1, 1],
  );
});

for (const end of ["end", "resetAndDestroy"] as const)
  test(`a reused connection that the server closes is replaced within the same post (${end})`, async (t) => {
    const { received, post } = await serve(t, (socket, { connection }) => {
      // The server closes the connection instead of answering the second request.
      if (connection === 1 && received.length === 2) socket[end]();
      else socket.write(OK);
    });
    await post();
    assert.equal((await post()).status, 200);
    assert.deepEqual(
      received.map(({ connection }) => connection),
      [1, 1, 2],
    );
    assert.equal(new Set(received.map(({ text }) => text.replace(/Connection: .*/, ""))).size, 1);
  });

test("a new connection that the server closes is a failure, and so is a second one", async (t) => {
  const { received, post } = await serve(t, (socket) => {
    if (received.length === 1) socket.write(OK);
    else socket.destroy();
  });
  await post();
  const isFailure = (error: unknown) => isGuardedFetchError(error) && error.kind === "network";
  await assert.rejects(post(), isFailure);
  assert.equal(received.length, 3, "one retry on a new connection");
  await assert.rejects(post(), isFailure);
  assert.equal(received.length, 4, "no retry, because the connection was new");
});

test("a reused connection that is closed after a part of the answer is a failure", async (t) => {
  const { received, post } = await serve(t, (socket) => {
    if (received.length === 1) socket.write(OK);
    else socket.end("HTTP/1.1 2");
  });
  await post();
  await assert.rejects(post());
  assert.equal(received.length, 2);
});

test("data that arrives on an unused connection is not taken for the next answer", async (t) => {
  const closed = Promise.withResolvers<void>();
  const { received, post } = await serve(t, (socket) => {
    if (received.length > 1) return socket.write(OK);
    socket.on("close", closed.resolve);
    socket.write("HTTP/1.1 204 No Content\r\n\r\n");
    setTimeout(() => socket.write("HTTP/1.1 500 Forged\r\nContent-Length: 0\r\n\r\n"), 50);
  });
  assert.equal((await post()).status, 204);
  await closed.promise;
  assert.equal((await post()).status, 200);
});

test("endless informational answers are a failure", async (t) => {
  const { post } = await serve(t, (socket) => {
    const timer = setInterval(() => socket.write("HTTP/1.1 103 Early Hints\r\n\r\n"), 1);
    socket.on("close", () => clearInterval(timer));
  });
  await assert.rejects(post(), (error) => isGuardedFetchError(error) && error.kind === "network");
});

test("an answer that is not HTTP is a failure, and no answer in time is a timeout", async (t) => {
  const { received, post } = await serve(t, (socket) => {
    if (received.length === 1) socket.write("SSH-2.0-server\r\n");
  });
  await assert.rejects(post(), (error) => isGuardedFetchError(error) && error.kind === "network");
  await assert.rejects(
    post({ timeoutMs: 50 }),
    (error) => isGuardedFetchError(error) && /did not answer within 50 ms/.test(error.message),
  );
});
