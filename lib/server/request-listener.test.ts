import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse, request as sendRequest } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { describe, type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { waitUntil } from "#e2e/service/testing.ts";
import { PEER_HEADER } from "#lib/api/http/client-address.ts";
import { isLocalCaller } from "#lib/api/http/local-caller.ts";
import { addressOf } from "./client-connection.ts";
import { readEnv } from "./env.ts";
import { composeReference } from "./reference/compose-reference.ts";
import { createRequestListener } from "./request-listener.ts";
import { listenForTests } from "./testing.ts";

// Needs a process of its own: it sets a flag of the engine.

type Deps = Parameters<typeof createRequestListener>[0];
type Serve = Deps["container"]["mounted"]["serve"];

const env = readEnv({ PORT: "3000" });
const host = new URL(env.baseUrl).host;
/** The fake operation of the current test. */
let serveOperation: Serve;
let answerScript: Deps["container"]["services"]["publishedScripts"]["answer"];
let answerPage: Deps["container"]["services"]["servedPages"]["answer"] = async () =>
  assert.fail("no page is requested");
const operationCalls: { operations: unknown; params: unknown }[] = [];
const logged: object[] = [];
const passedToNext: string[] = [];
let peerForNext: unknown;

const container: Deps["container"] = {
  exchangeLinkForCookie: async () => undefined,
  services: {
    publishedScripts: { answer: (...args) => answerScript(...args) },
    servedPages: { answer: (pageRequest) => answerPage(pageRequest) },
  },
  mounted: {
    pagesOrigin: undefined,
    serve(operations, request, params) {
      operationCalls.push({ operations, params });
      return serveOperation(operations, request, params);
    },
    serveEngine: undefined,
    exchangeLinkForCookie: async () => undefined,
    logIn: async () => assert.fail("no one logs in"),
    serveAnswerPage: async () => assert.fail("no one opens an answer link"),
    upgradeToWebSocket: async () => undefined,
    serveMcp: async () => new Response(null, { status: 405 }),
    servePage: () => Promise.reject(new Error("no page here")),
    loadSessionPage: async () => undefined,
    loadReportPage: async () => undefined,
    loadLivePage: async () => undefined,
    loadLandingPage: () => Promise.reject(new Error("no page here")),
  },
};
const { handleRequest, drain, endStreams } = createRequestListener({
  container,
  env,
  isDev: false,
  async handle(request, response) {
    passedToNext.push(request.url ?? "");
    peerForNext = request.headers[PEER_HEADER];
    response.end("Next's");
  },
  logger: { error: (fields) => void logged.push(fields) },
  renderReference: () => composeReference({ html: '<html lang="en">' }),
});
const server = createServer(handleRequest);
const port = await listenForTests(server);

/** Sends a request with a valid `Host`. The path is not normalized. */
async function call(
  path: string,
  method = "GET",
  extraHeaders: Record<string, string> = {},
): Promise<{ message: IncomingMessage; body: string }> {
  const headers = { host, ...extraHeaders };
  const sent = sendRequest({ host: "127.0.0.1", port, path, method, headers, agent: false }).end();
  const [message] = (await once(sent, "response")) as [IncomingMessage];
  return { message, body: Buffer.concat(await message.toArray()).toString() };
}

/** Starts a listener with other settings, and closes it when the test ends. @returns a function that sends requests. */
async function open(context: TestContext, settings: Record<string, string>) {
  const listener = createRequestListener({
    container,
    env: readEnv({ PORT: "3000", ...settings }),
    isDev: false,
    handle: async (_request, response) => void response.end("Next's"),
    logger: { error: (fields) => void logged.push(fields) },
  });
  const other = createServer(listener.handleRequest);
  other.listen(0, "127.0.0.1");
  await once(other, "listening");
  context.after(() => other.close());
  const { port } = other.address() as AddressInfo;
  return async (path: string, headers: Record<string, string>) => {
    const sent = sendRequest({ host: "127.0.0.1", port, path, headers, agent: false }).end();
    const [message] = (await once(sent, "response")) as [IncomingMessage];
    return { message, body: Buffer.concat(await message.toArray()).toString() };
  };
}

const STREAM = "/api/sessions/ses_a/requests/req_a/stream";

/** Opens a connection and sends the request line and `Host`; the caller sends the rest. */
function openRaw(requestLine: string) {
  const socket = connect(port, "127.0.0.1");
  socket.write(`${requestLine}\r\nHost: ${host}\r\n`);
  return socket;
}

describe("a request below /api/", () => {
  test("is answered by the listener if the contract has its path, for every method", async () => {
    serveOperation = async (_operations, request) =>
      Response.json(
        { method: request.method, url: request.url },
        { status: 201, headers: { location: "/there" } },
      );
    const { message, body } = await call("/api/sessions/a%20b/agent/status?after=3", "DELETE");
    assert.deepEqual(operationCalls.pop(), {
      operations: { GET: "readAgentStatus" },
      params: { sessionId: "a b" },
    });
    assert.equal(message.statusCode, 201);
    assert.deepEqual(JSON.parse(body), {
      method: "DELETE",
      url: `${env.baseUrl}/api/sessions/a%20b/agent/status?after=3`,
    });
    assert.equal(message.headers.location, "/there");
    assert.equal(message.headers["x-content-type-options"], "nosniff");
    assert.equal(message.headers["referrer-policy"], "no-referrer");
  });

  test("is passed to Next if the contract does not have its path, or only after normalization", async () => {
    const before = operationCalls.length;
    const paths = ["/api/nothing", "/api/health/", "/api/%68ealth", "/api/x/../health", "/api//health"];
    for (const path of paths) assert.equal((await call(path)).body, "Next's", path);
    assert.deepEqual(passedToNext.splice(0), paths);
    assert.equal(operationCalls.length, before);
  });

  test("with an unknown method is answered by the listener, not by Next", async () => {
    serveOperation = async (_operations, request) => new Response(request.method, { status: 405 });
    for (const method of ["PROPFIND", "TRACE"]) {
      assert.equal((await call("/api/health", method)).message.statusCode, 405, method);
      const { message, body } = await call("/demo", method);
      assert.equal(message.statusCode, 405, method);
      assert.match(message.headers.allow ?? "", /^GET, HEAD, OPTIONS$/);
      assert.equal(JSON.parse(body).code, "method_not_allowed");
    }
    assert.deepEqual(passedToNext, []);
  });

  test("for a browser with an impossible session id gets Next's own 404", async () => {
    await call("/api/sessions/NOT-OURS/browser");
    assert.deepEqual(passedToNext.splice(0), ["/_no-such-page"]);
  });

  test("gets no body in the response to HEAD", async () => {
    serveOperation = async () => Response.json({ ok: true });
    const { message, body } = await call("/api/health", "HEAD");
    assert.deepEqual([message.statusCode, body], [200, ""]);
  });

  test("that fails before the response gets a 500 with the error envelope, and the error is logged", async () => {
    serveOperation = () => Promise.reject(new Error("broken on purpose"));
    const { message, body } = await call("/api/health");
    assert.deepEqual([message.statusCode, JSON.parse(body).code], [500, "internal"]);
    assert.match(String((logged.pop() as { err?: Error }).err), /broken on purpose/);
  });
});

describe("a request for a published script", () => {
  const path = "/v/pub_a@2.js";

  test("is answered without an operation, with the script's headers; HEAD and 304 have no body", async () => {
    const loads: unknown[] = [];
    answerScript = async (file, request) => {
      loads.push([file, request]);
      const headers = { "Content-Type": "text/javascript", "Cache-Control": "public", ETag: '"a"' };
      return request.ifNoneMatch === null
        ? { status: 200, headers, body: new TextEncoder().encode("run()") }
        : { status: 304, headers };
    };
    const before = operationCalls.length;
    for (const [method, body] of [
      ["GET", "run()"],
      ["HEAD", ""],
    ] as const) {
      const answer = await call(`${path}?a`, method);
      assert.deepEqual([answer.message.statusCode, answer.body], [200, body]);
      const { headers } = answer.message;
      if (method === "GET") assert.equal(headers["content-length"], "5");
      assert.equal(headers["cache-control"], "public");
      assert.equal(headers["x-content-type-options"], "nosniff");
      assert.equal(headers["access-control-allow-origin"], "*");
    }
    const { message, body } = await call(path, "GET", { "if-none-match": '"a"', "accept-encoding": "gzip" });
    assert.deepEqual([message.statusCode, body], [304, ""]);
    assert.deepEqual(loads.at(-1), ["pub_a@2.js", { ifNoneMatch: '"a"', acceptEncoding: "gzip" }]);
    assert.equal(operationCalls.length, before);
  });

  test("is passed to the operation for any other method, and if the script does not exist", async () => {
    answerScript = async () => ({ status: 410, headers: {}, error: "gone" });
    serveOperation = async () => new Response("the operation's", { status: 410 });
    for (const method of ["GET", "POST", "OPTIONS"]) {
      assert.equal((await call(path, method)).body, "the operation's");
      assert.deepEqual(operationCalls.pop(), {
        operations: { GET: "readScript" },
        params: { script: "pub_a@2.js" },
      });
    }
    assert.equal((await call("/v/../v/pub_a.js")).body, "Next's");
    assert.deepEqual(passedToNext.splice(0), ["/v/../v/pub_a.js"]);
  });

  test("that fails gets a 500 that pages of other origins can read and caches do not store", async () => {
    answerScript = () => Promise.reject(new Error("broken on purpose"));
    const { message, body } = await call(path);
    assert.deepEqual([message.statusCode, JSON.parse(body).code], [500, "internal"]);
    assert.equal(message.headers["access-control-allow-origin"], "*");
    assert.equal(message.headers["cache-control"], "no-store");
    assert.match(String((logged.pop() as { err?: Error }).err), /broken on purpose/);
  });
});

describe("the body of a request", () => {
  test("is read in pieces; an early response reaches a client that is still sending", async () => {
    serveOperation = async (_operations, request) => {
      for await (const _piece of request.body ?? []) return new Response("enough", { status: 413 });
      return new Response("nothing came");
    };
    const socket = openRaw("POST /api/session HTTP/1.1\r\nConnection: close\r\nTransfer-Encoding: chunked");
    socket.write("Content-Type: application/json\r\n\r\n4\r\n[1,2\r\n");
    const [answer] = (await once(socket, "data")) as [Buffer];
    assert.match(answer.toString(), /^HTTP\/1\.1 413 .+enough/s);
    socket.end("1\r\n]\r\n0\r\n\r\n");
    await once(socket, "close");
  });

  test("does not block the next request on the connection if it was not read completely", async () => {
    serveOperation = async (_operations, request) => {
      for await (const _piece of request.body ?? []) break;
      return new Response("enough");
    };
    const socket = openRaw("POST /api/session HTTP/1.1\r\nTransfer-Encoding: chunked");
    socket.write("\r\n4\r\n[1,2\r\n");
    await once(socket, "data");
    socket.write(`1\r\n]\r\n0\r\n\r\nGET /api/health HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    assert.match(Buffer.concat(await socket.toArray()).toString(), /^HTTP\/1\.1 200 .+enough$/s);
  });
});

describe("an event stream", () => {
  const PIECE = new Uint8Array(64 * 1024).fill(0x20);

  test("is sent no faster than the client reads, and is cancelled when the client disconnects", async () => {
    let pulled = 0;
    let isCancelled = false;
    let signal: AbortSignal | undefined;
    serveOperation = async (_operations, request) => {
      signal = request.signal;
      const stream = new ReadableStream({
        pull(controller) {
          pulled += 1;
          controller.enqueue(PIECE);
        },
        cancel() {
          isCancelled = true;
        },
      });
      return new Response(stream, { headers: { "content-type": "text/event-stream" } });
    };
    const socket = openRaw(`GET ${STREAM} HTTP/1.1`);
    socket.pause().write("\r\n");
    const [, response] = (await once(server, "request")) as [IncomingMessage, ServerResponse];
    serveOperation = async () => Response.json({ ok: true });
    // The stream is blocked only after the operating system has buffered a few megabytes.
    const isBlocked = async () => {
      const before = pulled;
      for (let round = 0; round < 5; round++) await call("/api/health");
      return response.writableNeedDrain && pulled === before;
    };
    await waitUntil(isBlocked, "the stream waits for the client");
    const pulledBefore = pulled;
    socket.resume();
    await waitUntil(() => pulled > pulledBefore + 10, "the stream continues");
    socket.destroy();
    await waitUntil(() => isCancelled, "the stream is cancelled");
    await waitUntil(() => signal?.aborted === true, "its request is aborted");
    assert.equal(logged.length, 0);
  });

  test("aborts its request when the client disconnects, even after a garbage collection", async () => {
    let signal: AbortSignal | undefined;
    serveOperation = async (_operations, request) => {
      signal = request.signal;
      return new Response(new ReadableStream(), { headers: { "content-type": "text/event-stream" } });
    };
    const socket = openRaw(`GET ${STREAM} HTTP/1.1`);
    socket.write("\r\n");
    await once(socket, "data");
    await setImmediate();
    setFlagsFromString("--expose-gc");
    runInNewContext("gc")();
    socket.destroy();
    await waitUntil(() => signal?.aborted === true, "the request is aborted");
  });

  test("sends its head before its first event, and ends the response when the stream ends", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    serveOperation = async () => {
      const stream = new ReadableStream({
        async start(controller) {
          await promise;
          controller.enqueue(new TextEncoder().encode("data: 1\n\n"));
          controller.close();
        },
      });
      return new Response(stream, { headers: { "content-type": "text/event-stream; charset=utf-8" } });
    };
    const sent = sendRequest({
      host: "127.0.0.1",
      port,
      path: STREAM,
      headers: { host },
      agent: false,
    }).end();
    const [message] = (await once(sent, "response")) as [IncomingMessage];
    assert.equal(message.headers["content-type"], "text/event-stream; charset=utf-8");
    resolve();
    assert.equal(Buffer.concat(await message.toArray()).toString(), "data: 1\n\n");
  });
});

describe("the security headers of a response", () => {
  const names = [
    "content-security-policy",
    "cross-origin-opener-policy",
    "cross-origin-resource-policy",
    "permissions-policy",
    "referrer-policy",
    "strict-transport-security",
    "x-content-type-options",
  ];
  /** Returns which of the header names in `names` a response has. */
  const namesOf = ({ headers }: IncomingMessage) => names.filter((name) => headers[name] !== undefined);
  const data = [
    "content-security-policy",
    "cross-origin-resource-policy",
    "referrer-policy",
    "x-content-type-options",
  ];

  test("are those for data below /api/, for operations below /s/, and for refusals", async () => {
    serveOperation = async () => Response.json({ ok: true });
    for (const path of [
      "/api/health",
      "/api/nothing",
      "/actions/sessions",
      "/s/ses_a/agents/ses_b/artifacts/art_a",
    ]) {
      const { message } = await call(path);
      assert.deepEqual(namesOf(message), data, path);
      assert.equal(message.headers["cross-origin-resource-policy"], "same-origin", path);
    }
    for (const [path, extraHeaders] of [
      ["/%zz", {}],
      ["/api/health", { host: "evil.example" }],
    ] as const) {
      const { message } = await call(path, "GET", extraHeaders);
      assert.deepEqual(namesOf(message), data, path);
    }
    passedToNext.splice(0);
  });

  test("are not overwritten if the operation sets them", async () => {
    serveOperation = async () =>
      new Response("picture", { headers: { "content-security-policy": "default-src 'none'; sandbox" } });
    const { message } = await call("/s/ses_a/agents/ses_b/artifacts/art_a");
    assert.equal(message.headers["content-security-policy"], "default-src 'none'; sandbox");
  });

  test("isolate pages from windows of other origins", async () => {
    const page = names.filter((name) => name !== "strict-transport-security");
    for (const path of ["/", "/docs", "/s/ses_a", "/s/ses_a/live"]) {
      const { message } = await call(path);
      assert.deepEqual(namesOf(message), page, path);
      assert.equal(message.headers["cross-origin-opener-policy"], "same-origin", path);
    }
    passedToNext.splice(0);
  });

  test("let other origins load published scripts and landing pages", async () => {
    answerPage = async () => ({ status: 200, headers: {}, body: new TextEncoder().encode("page") });
    answerScript = async () => ({
      status: 200,
      headers: { "Cross-Origin-Resource-Policy": "cross-origin" },
      body: new TextEncoder().encode("run()"),
    });
    for (const path of ["/v/pub_a.js", "/p/shop/", "/demo/shop.css"]) {
      const { headers } = (await call(path)).message;
      assert.equal(headers["cross-origin-resource-policy"], "cross-origin", path);
      assert.equal(headers["x-content-type-options"], "nosniff", path);
      assert.equal(headers["cross-origin-opener-policy"], undefined, path);
    }
    passedToNext.splice(0);
  });

  test("keep browsers on https with every response, if BASE_URL is https", async (context) => {
    serveOperation = async () => Response.json({ ok: true });
    const opened = await open(context, { HOST: "0.0.0.0", BASE_URL: "https://agents.example" });
    for (const path of ["/", "/api/health", "/p/shop/", "/v/pub_a.js", "/%zz"]) {
      const { headers } = (await opened(path, { host: "agents.example" })).message;
      assert.equal(headers["strict-transport-security"], "max-age=31536000; includeSubDomains", path);
    }
    passedToNext.splice(0);
  });
});

describe("a public service", () => {
  const settings = { HOST: "0.0.0.0", BASE_URL: "https://agents.example", ALLOWED_HOSTS: "service.internal" };

  test("accepts its own host names and those of ALLOWED_HOSTS", async (context) => {
    serveOperation = async () => Response.json({ ok: true });
    const opened = await open(context, settings);
    for (const [name, status] of [
      ["agents.example", 200],
      ["service.internal:3000", 200],
      ["127.0.0.1:3000", 200],
      ["evil.example", 421],
      ["10.0.0.5:3000", 421],
    ] as const)
      assert.equal((await opened("/api/openapi.json", { host: name })).message.statusCode, status, name);
    const { body } = await opened("/", { host: "evil.example" });
    assert.equal(JSON.parse(body).error, "Host: is not this service's; ALLOWED_HOSTS names further ones");
  });

  test("answers health checks of load balancers, which may use an IP address as Host", async (context) => {
    serveOperation = async () => Response.json({ ok: true });
    const opened = await open(context, settings);
    for (const path of ["/api/health", "/api/ready"])
      assert.equal((await opened(path, { host: "10.0.0.5:3000" })).message.statusCode, 200, path);
  });
});

test("only a process of this machine counts as a local caller, and only if the service is local", async (context) => {
  serveOperation = async (_operations, request) => Response.json(isLocalCaller(request));
  const ask = async (settings: Record<string, string>, headers: Record<string, string>) =>
    JSON.parse((await (await open(context, settings))("/api/ready", headers)).body);
  assert.equal(await ask({}, { host }), true);
  for (const name of ["x-forwarded-for", "forwarded", "via", "x-real-ip"])
    assert.equal(await ask({}, { host, [name]: "203.0.113.9" }), false, name);
  const settings = { BASE_URL: "https://agents.example" };
  assert.equal(await ask(settings, { host: "agents.example" }), false);
  assert.equal(await ask(settings, { host }), false);
});

test("a request with a foreign Host is refused", async () => {
  const response = await fetch(`http://127.0.0.1:${port}/api/health`);
  assert.equal(response.status, 421);
});

test("Next gets the address of the connection in a header", async () => {
  await call("/");
  assert.equal(peerForNext, "127.0.0.1");
});

test("a client that does not read its response is disconnected", async (context) => {
  const listener = createRequestListener({
    container,
    env,
    isDev: false,
    handle: async (_request, response) => void response.end(Buffer.alloc(64 * 1024 * 1024)),
    logger: { error: (fields) => void logged.push(fields) },
    stalledMs: 50,
  });
  const closed = Promise.withResolvers<void>();
  const other = createServer((request, response) => {
    response.once("close", closed.resolve);
    void listener.handleRequest(request, response);
  });
  const otherPort = await listenForTests(other);
  const reader = connect(otherPort, "127.0.0.1").pause();
  context.after(() => reader.destroy());
  reader.write(`GET /large HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  await closed.promise;
});

test("a stopping service answers pending requests, refuses new ones, and ends streams after a whole event", async () => {
  const [started, answer] = [0, 0].map(() => Promise.withResolvers<void>());
  serveOperation = async () => {
    started?.resolve();
    await answer?.promise;
    return Response.json({ ok: true });
  };
  const first = call("/api/sessions");
  await started?.promise;
  const event = "id: 1\nevent: run.started\ndata: {}\n\n";
  serveOperation = async () =>
    new Response(new ReadableStream({ start: (stream) => stream.enqueue(new TextEncoder().encode(event)) }), {
      headers: { "content-type": "text/event-stream" },
    });
  const stream = sendRequest({
    host: "127.0.0.1",
    port,
    path: STREAM,
    headers: { host },
    agent: false,
  }).end();
  const [followed] = (await once(stream, "response")) as [IncomingMessage];
  const received: string[] = [];
  followed.setEncoding("utf8").on("data", (part: string) => received.push(part));
  const ended = new Promise((resolve) => followed.once("close", resolve));
  await once(followed, "data");

  const drained = drain(60_000);
  for (const path of ["/api/sessions", "/s/ses_a", "/docs"]) {
    const { message, body } = await call(path);
    assert.deepEqual([message.statusCode, message.headers["retry-after"]], [503, "1"], path);
    assert.deepEqual(JSON.parse(body), {
      success: false,
      error: "the service is stopping; try again",
      code: "unavailable",
    });
  }
  const readiness = await call("/api/ready");
  assert.deepEqual([readiness.message.statusCode, JSON.parse(readiness.body)], [503, { ok: false }]);
  serveOperation = async () => Response.json({ ok: true });
  assert.equal((await call("/api/health")).message.statusCode, 200, "the process is alive");
  answer?.resolve();
  assert.equal((await first).message.statusCode, 200);
  await drained;
  assert.equal(followed.readableEnded, false, "followers see the events of the last steps");
  await endStreams();
  await ended;
  assert.equal(followed.complete, true, "the response has an end");
  assert.equal(received.join(""), event);
});

test("pages and files that anybody can load have a rate for each client address, and other requests do not", async (t) => {
  // The rate is lower than the cost of a single page, so the first request of each kind is refused.
  const send = await open(t, { RATE_LIMIT_PAGES: "1", TRUST_PROXY: "127.0.0.1" });
  serveOperation = async () => Response.json({ ok: true });
  const served = logged.length;
  for (const path of ["/", "/docs", "/_next/static/a.js", "/api/openapi.json", "/api/nothing", "/s/ses_a"]) {
    const { message, body } = await send(path, { host: "127.0.0.1:3000" });
    assert.equal(message.statusCode, 429, path);
    assert.equal(JSON.parse(body).code, "rate_limited");
    assert.match(String(message.headers["retry-after"]), /^[1-9]\d*$/);
    assert.equal(message.headers.connection, "close");
  }
  for (const path of ["/api/health", "/api/sessions"])
    assert.equal((await send(path, { host: "127.0.0.1:3000" })).message.statusCode, 200, path);
  const unlimited = await open(t, { RATE_LIMIT_PAGES: "0" });
  assert.equal((await unlimited("/", { host: "127.0.0.1:3000" })).body, "Next's");
  assert.equal(logged.length, served);
});

test("the security log names the client behind a trusted proxy, and the connection's peer otherwise", () => {
  const { TRUST_PROXY } = readEnv({ TRUST_PROXY: "127.0.0.1" });
  const request = { socket: { remoteAddress: "127.0.0.1" }, headers: { "x-forwarded-for": "203.0.113.7" } };
  assert.equal(addressOf(request as unknown as IncomingMessage, { TRUST_PROXY }), "203.0.113.7");
  assert.equal(addressOf(request as unknown as IncomingMessage, { TRUST_PROXY: [] }), "127.0.0.1");
});

test("the answer to a call waits for the pace of refusals", async (context) => {
  const waits: [string, number][] = [];
  const released = Promise.withResolvers<void>();
  const listener = createRequestListener({
    container,
    env,
    isDev: false,
    handle: async () => assert.fail("no page is requested"),
    logger: { error: (fields) => void logged.push(fields) },
    refusals: {
      async wait(subject, _isKnown, status) {
        waits.push([subject, status]);
        await released.promise;
      },
    },
  });
  const other = createServer(listener.handleRequest);
  const otherPort = await listenForTests(other);
  context.after(() => other.close());
  serveOperation = async () => new Response(null, { status: 429 });
  const headers = { host };
  const sent = sendRequest({
    host: "127.0.0.1",
    port: otherPort,
    path: "/api/health",
    headers,
    agent: false,
  });
  let isAnswered = false;
  const response = once(sent.end(), "response").finally(() => {
    isAnswered = true;
  });
  await waitUntil(async () => waits.length > 0, "the answer to wait");
  await setImmediate();
  assert.deepEqual(waits, [["127.0.0.1", 429]]);
  assert.equal(isAnswered, false);
  released.resolve();
  const [message] = (await response) as [IncomingMessage];
  assert.equal(message.statusCode, 429);
  message.resume();
});

test("a connection with more than a hundred unanswered requests is ended", async (context) => {
  const released = Promise.withResolvers<Response>();
  let received = 0;
  serveOperation = () => {
    received += 1;
    return released.promise;
  };
  const socket = connect(port, "127.0.0.1");
  context.after(() => socket.destroy());
  socket.on("error", () => {});
  const ended = once(socket, "close");
  socket.write(`GET /api/health HTTP/1.1\r\nHost: ${host}\r\n\r\n`.repeat(150));
  await ended;
  assert.ok(received <= 100, `${received} requests`);
  released.resolve(new Response(null, { status: 204 }));
});
