import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, beforeEach, describe, test } from "node:test";
import { createHostCheck } from "./check-host.ts";
import { createHttpServer } from "./create-http-server.ts";
import { readEnv } from "./env.ts";
import { createRequestListener } from "./request-listener.ts";
import { listenForTests } from "./testing.ts";
import { createUpgradeHandler } from "./upgrade.ts";

// These tests send malformed requests as bytes to the service's listener, because no client library would send them.

type Deps = Parameters<typeof createRequestListener>[0];

const unused = () => assert.fail("must not be called");
/** The requests that were served: method, path with query, and body. */
const served: string[] = [];
const servedHeaders: Headers[] = [];
const logged: object[] = [];

const container: Deps["container"] = {
  exchangeLinkForCookie: async () => undefined,
  services: { publishedScripts: { answer: unused }, servedPages: { answer: unused } },
  mounted: {
    pagesOrigin: undefined,
    async serve(_operations, request) {
      const { pathname, search } = new URL(request.url);
      servedHeaders.push(request.headers);
      served.push(`${request.method} ${pathname}${search} ${await request.text()}`.trim());
      return Response.json({ ok: true });
    },
    serveEngine: undefined,
    exchangeLinkForCookie: async () => undefined,
    logIn: async () => assert.fail("no one logs in"),
    serveAnswerPage: async () => assert.fail("no one opens an answer link"),
    upgradeToWebSocket: async () => Response.json({ error: "no such session" }, { status: 404 }),
    serveMcp: unused,
    servePage: unused,
    loadSessionPage: unused,
    loadReportPage: unused,
    loadLivePage: unused,
    loadLandingPage: unused,
  },
};
const env = readEnv({ PORT: "3000" });
const OWN = new URL(env.baseUrl).host;
const { handleRequest } = createRequestListener({
  container,
  env,
  isDev: false,
  async handle(request, response) {
    served.push(`page ${request.url}`);
    response.end("a page");
  },
  logger: { error: (fields) => void logged.push(fields) },
});
const server = createHttpServer(handleRequest);
const { upgradeToWebSocket } = container.mounted;
const checkHost = createHostCheck(env);
server.on(
  "upgrade",
  createUpgradeHandler({ upgradeToWebSocket, handleRequest, baseUrl: env.baseUrl, isDev: false, checkHost }),
);
const port = await listenForTests(server);
after(() => {
  // `ECONNRESET` is expected: if the parser closes a connection, the fake operation fails to read the body. Real
  // operations handle this error.
  const unexpected = logged.filter((fields) => !isReset((fields as { err?: unknown }).err));
  assert.deepEqual(unexpected, []);
});
const isReset = (error: unknown) => error instanceof Error && "code" in error && error.code === "ECONNRESET";
beforeEach(() => {
  served.length = 0;
  servedHeaders.length = 0;
});

/** Sends bytes and reads until the server closes the connection. */
async function send(bytes: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.write(bytes, "latin1");
  return Buffer.concat(await socket.toArray()).toString("latin1");
}

const statusesOf = (answer: string) =>
  [...answer.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));

const LAST = "Connection: close";
/**
 * A request that is hidden behind another one. It has `Connection: close`, so a server that accepts it answers it and
 * closes the connection.
 */
const HIDDEN = `GET /api/hidden?smuggled HTTP/1.1\r\nHost: ${OWN}\r\n${LAST}\r\n\r\n`;

describe("Host", () => {
  const twice = { same: `Host: ${OWN}\r\nHost: ${OWN}`, other: `Host: ${OWN}\r\nHost: evil.example` };
  for (const [name, headers] of Object.entries({
    "twice, the same": twice.same,
    "twice, own first": twice.other,
    "twice, own last": `Host: evil.example\r\nhOST: ${OWN}`,
    "twice, far apart": `Host: ${OWN}\r\n${"a:\r\n".repeat(3_000)}Host: evil.example`,
    none: "X-Host: x",
    empty: "Host:",
    "with a user": `Host: ${OWN}@evil.example`,
    "as a password": `Host: evil.example@${OWN}`,
    "with a path": `Host: ${OWN}/evil`,
    "a list": `Host: ${OWN}, evil.example`,
    "with a space": `Host: ${OWN} evil.example`,
    "folded over two lines": `Host: ${OWN}\r\n .evil.example`,
  }))
    test(`${name}: 400`, async () => {
      const answer = await send(`GET /api/health HTTP/1.1\r\n${headers}\r\n${LAST}\r\n\r\n`);
      assert.deepEqual([statusesOf(answer), served], [[400], []]);
    });

  test("missing in HTTP/1.0: 400", async () => {
    const answer = await send("GET /api/health HTTP/1.0\r\n\r\n");
    assert.deepEqual([statusesOf(answer), served], [[400], []]);
  });

  test("of another service: 421", async () => {
    for (const host of ["evil.example", "localhost.evil.example:3000", "127.0.0.1:3001", "127.0.0.1"]) {
      const answer = await send(`GET /api/health HTTP/1.1\r\nHost: ${host}\r\n${LAST}\r\n\r\n`);
      assert.deepEqual([statusesOf(answer), served], [[421], []], host);
    }
  });

  test("twice in a WebSocket's request: 400, and another service's: 421", async () => {
    const ask = (hosts: string) =>
      send(
        `GET /api/sessions/ses_a/live HTTP/1.1\r\n${hosts}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
          "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
      );
    assert.deepEqual(statusesOf(await ask(twice.other)), [400]);
    assert.deepEqual(statusesOf(await ask("Host: evil.example")), [421]);
    assert.deepEqual(statusesOf(await ask(`Host: ${OWN}`)), [404]);
  });
});

describe("an absolute address", () => {
  test("that agrees with Host is served as its path", async () => {
    for (const address of [`http://${OWN}/api/health?a=/b`, `HTTP://${OWN.toUpperCase()}/api/health?a=/b`])
      await send(`GET ${address} HTTP/1.1\r\nHost: ${OWN}\r\n${LAST}\r\n\r\n`);
    await send(`GET http://${OWN}?login=a HTTP/1.1\r\nHost: ${OWN}\r\n${LAST}\r\n\r\n`);
    assert.deepEqual(served, ["GET /api/health?a=/b", "GET /api/health?a=/b", "page /?login=a"]);
  });

  for (const address of [
    "http://evil.example/api/health",
    `http://${OWN}@evil.example/api/health`,
    `http://evil.example@${OWN}/api/health`,
    `http://${OWN}:80/api/health`,
    "http:///api/health",
    "http:/api/health",
    `//${OWN}/api/health`,
    `ftp://${OWN}/api/health`,
    "evil.example:443",
    "*",
    "api/health",
    "/api/%zz",
  ])
    test(`${address}: does not reach an operation`, async () => {
      const method = address === "*" ? "OPTIONS" : "GET";
      const answer = await send(`${method} ${address} HTTP/1.1\r\nHost: ${OWN}\r\n${LAST}\r\n\r\n`);
      // A path that begins with two slashes is passed to Next. The real Next answers that there is no such page, but
      // the fake one in this test answers every request with 200.
      const isPage = address.startsWith("//");
      assert.deepEqual(statusesOf(answer), [isPage ? 200 : 400]);
      assert.deepEqual(served, isPage ? [`page ${address}`] : []);
    });

  test("with CONNECT opens no tunnel", async () => {
    const answer = await send(`CONNECT ${OWN} HTTP/1.1\r\nHost: ${OWN}\r\n\r\n${HIDDEN}`);
    assert.deepEqual([answer, served], ["", []]);
  });
});

describe("a request hidden in another one", () => {
  const post = (headers: string, body: string) =>
    `POST /api/session HTTP/1.1\r\nHost: ${OWN}\r\n${headers}\r\n\r\n${body}${HIDDEN}`;
  const CHUNKED = "Transfer-Encoding: chunked";
  const hidden: Record<string, string> = {
    "CL.TE": post(`Content-Length: 5\r\n${CHUNKED}`, "0\r\n\r\n"),
    "TE.CL": post(`${CHUNKED}\r\nContent-Length: 4`, "0\r\n\r\n"),
    "two lengths": post("Content-Length: 0\r\nContent-Length: 9", ""),
    "the same length twice": post("Content-Length: 0\r\nContent-Length: 0", ""),
    "a list of lengths": post("Content-Length: 0, 9", ""),
    "a length with a sign": post("Content-Length: +0", ""),
    "a negative length": post("Content-Length: -1", ""),
    "a hexadecimal length": post("Content-Length: 0x0", ""),
    "an empty length": post("Content-Length:", ""),
    "a length beyond 64 bits": post("Content-Length: 18446744073709551616", ""),
    "a length with a space before the colon": post("Content-Length : 0", ""),
    "chunked with a space before the colon": post("Transfer-Encoding : chunked", "0\r\n\r\n"),
    "chunked after a vertical tab": post("Transfer-Encoding:\x0bchunked", "0\r\n\r\n"),
    "chunked in a folded header": post(`Content-Length: 0\r\nX: y\r\n ${CHUNKED}`, ""),
    "a folded encoding": post("Transfer-Encoding:\r\n chunked\r\nContent-Length: 0", ""),
    "an unknown encoding": post("Transfer-Encoding: xchunked", "0\r\n\r\n"),
    identity: post("Transfer-Encoding: identity", ""),
    "chunked, then identity": post("Transfer-Encoding: chunked, identity", "0\r\n\r\n"),
    "chunked twice": post(`${CHUNKED}\r\n${CHUNKED}`, "0\r\n\r\n"),
    "a negative chunk": post(CHUNKED, "-1\r\n\r\n"),
    "a chunk size with a prefix": post(CHUNKED, "0x0\r\n\r\n"),
    "a chunk size beyond 64 bits": post(CHUNKED, "10000000000000000\r\n\r\n"),
    "a chunk without its end": post(CHUNKED, "1\r\nab\r\n0\r\n\r\n"),
    "a chunk extension with a bare line feed": post(CHUNKED, "0;a\nb\r\n\r\n"),
    "chunk lines with bare line feeds": post(CHUNKED, "0\n\n"),
    "header lines with bare line feeds": `GET /api/health HTTP/1.1\nHost: ${OWN}\n\n${HIDDEN}`,
    "a bare carriage return in a header": post("X: a\rContent-Length: 0", ""),
    "a NUL in a header": post("X: a\0b\r\nContent-Length: 0", ""),
    "a header without a colon": post("Nonsense\r\nContent-Length: 0", ""),
    "a header line that begins with a space": `GET /api/health HTTP/1.1\r\n X: y\r\nHost: ${OWN}\r\n\r\n${HIDDEN}`,
    "a second request line": `GET /api/health HTTP/1.1\r\nGET /api/hidden HTTP/1.1\r\nHost: ${OWN}\r\n\r\n${HIDDEN}`,
    "an unknown version": `GET /api/health HTTP/1.2\r\nHost: ${OWN}\r\n\r\n${HIDDEN}`,
    "version 9": `GET /api/health HTTP/9.9\r\nHost: ${OWN}\r\n\r\n${HIDDEN}`,
    "HTTP/0.9": `GET /api/health\r\n\r\n${HIDDEN}`,
    "the preface of HTTP/2": `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${HIDDEN}`,
    "an unknown method": `GETX /api/health HTTP/1.1\r\nHost: ${OWN}\r\n\r\n${HIDDEN}`,
    "a method in small letters": `get /api/health HTTP/1.1\r\nHost: ${OWN}\r\n\r\n${HIDDEN}`,
  };
  for (const [name, bytes] of Object.entries(hidden))
    test(`${name}: 400, and the connection is closed`, async () => {
      const answer = await send(bytes);
      // The bytes before the flaw may be served as a request; the bytes after it must never be.
      assert.equal(statusesOf(answer).at(-1), 400, answer);
      assert.deepEqual(
        served.filter((request) => request.includes("smuggled")),
        [],
      );
    });

  test("in the body of a GET is not served", async () => {
    const length = `Content-Length: ${HIDDEN.length}`;
    const answer = await send(
      `GET /api/health HTTP/1.1\r\nHost: ${OWN}\r\n${length}\r\n\r\n${HIDDEN}GET /api/ready HTTP/1.1\r\nHost: ${OWN}\r\n${LAST}\r\n\r\n`,
    );
    assert.deepEqual(
      [statusesOf(answer), served],
      [
        [200, 200],
        ["GET /api/health", "GET /api/ready"],
      ],
    );
  });

  test("in the body of a request that is refused before its body is read is not served", async () => {
    const length = `Content-Length: ${HIDDEN.length}`;
    const foreign = `POST /api/session HTTP/1.1\r\nHost: evil.example\r\n${length}\r\n\r\n${HIDDEN}`;
    const answer = await send(`${foreign}GET /api/ready HTTP/1.1\r\nHost: ${OWN}\r\n${LAST}\r\n\r\n`);
    assert.deepEqual([statusesOf(answer), served], [[421, 200], ["GET /api/ready"]]);
  });

  test("trailers do not change headers", async () => {
    const body = "2\r\n{}\r\n0\r\nHost: evil.example\r\nAuthorization: Bearer x\r\nCookie: share=x\r\n\r\n";
    await send(`POST /api/session HTTP/1.1\r\nHost: ${OWN}\r\n${CHUNKED}\r\n${LAST}\r\n\r\n${body}`);
    assert.deepEqual(served, ["POST /api/session {}"]);
    const [headers] = servedHeaders;
    assert.deepEqual(
      ["host", "authorization", "cookie"].map((name) => headers?.get(name)),
      [OWN, null, null],
    );
  });
});

describe("headers", () => {
  test("beyond 16 KiB: 431", async () => {
    const answer = await send(
      `GET /api/health HTTP/1.1\r\nHost: ${OWN}\r\nX: ${"a".repeat(17_000)}\r\n\r\n${HIDDEN}`,
    );
    assert.deepEqual([statusesOf(answer), served], [[431], []]);
  });

  test("with an address beyond 16 KiB: 431", async () => {
    const answer = await send(`GET /api/health?${"a".repeat(17_000)} HTTP/1.1\r\nHost: ${OWN}\r\n\r\n`);
    assert.deepEqual([statusesOf(answer), served], [[431], []]);
  });

  test("with an unknown expectation: 417", async () => {
    const answer = await send(
      `POST /api/session HTTP/1.1\r\nHost: ${OWN}\r\nExpect: 200-maybe\r\nContent-Length: 0\r\n${LAST}\r\n\r\n`,
    );
    assert.deepEqual([statusesOf(answer), served], [[417], []]);
  });

  test("that request HTTP/2 without TLS are ignored", async () => {
    for (const upgrade of ["h2c", "websocket, h2c", "TLS/1.2"]) {
      const answer = await send(
        `GET /api/health HTTP/1.1\r\nHost: ${OWN}\r\nConnection: Upgrade, HTTP2-Settings, close\r\n` +
          `Upgrade: ${upgrade}\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n\r\n`,
      );
      assert.deepEqual([statusesOf(answer), served.splice(0)], [[200], ["GET /api/health"]], upgrade);
    }
  });

  test("that only proxies set have no effect", async () => {
    await send(
      `GET /api/health HTTP/1.1\r\nHost: ${OWN}\r\nX-Forwarded-Host: evil.example\r\nX-Forwarded-Proto: https\r\n` +
        `X-Original-URL: /api/hidden\r\nX-Rewrite-URL: /api/hidden\r\nX-HTTP-Method-Override: DELETE\r\n${LAST}\r\n\r\n`,
    );
    assert.deepEqual(served, ["GET /api/health"]);
  });
});
