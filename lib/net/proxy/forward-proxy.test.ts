import assert from "node:assert/strict";
import http, { createServer, type IncomingMessage, type RequestListener } from "node:http";
import net, { type AddressInfo, type Socket } from "node:net";
import { after, before, test } from "node:test";
import { WebSocket, WebSocketServer } from "ws";
import { createAddressRule, type Lookup } from "../address/address-rule.ts";
import {
  type ForwardProxy,
  type ForwardProxyOptions,
  type ProxyRefusal,
  startForwardProxy,
} from "./forward-proxy.ts";

let handle: RequestListener = (_request, response) => response.end("origin");
const server = createServer((request, response) => handle(request, response));
const sockets = new WebSocketServer({ server });
let touched = 0;
let port = 0;
const proxies: ForwardProxy[] = [];
const lookup: Lookup = async (name) =>
  name === "nosuch.example"
    ? []
    : [{ address: name === "public.example" ? "93.184.215.14" : "127.0.0.1", family: 4 }];

before(async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.on("connection", () => {
    touched += 1;
  });
  sockets.on("connection", (socket) => socket.on("message", (data) => socket.send(`echo ${data}`)));
  server.listen(0, resolve);
  await promise;
  port = (server.address() as AddressInfo).port;
});

after(async () => {
  for (const proxy of proxies) await proxy.close();
  sockets.close();
  server.closeAllConnections();
  server.close();
});

async function proxyWith(allow: string[], options: Partial<ForwardProxyOptions> = {}): Promise<ForwardProxy> {
  const proxy = await startForwardProxy({ rule: createAddressRule({ allow, lookup }), ...options });
  proxies.push(proxy);
  return proxy;
}

type Answer = { status: number; headers: http.IncomingHttpHeaders; body: string };

async function readAll(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function get(
  proxy: ForwardProxy,
  path: string,
  init: http.RequestOptions & { body?: string } = {},
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const request = http.request({ host: proxy.host, port: proxy.port, path, agent: false, ...init });
  request.on("error", reject);
  request.on("response", (message) => {
    readAll(message).then(
      (body) => resolve({ status: message.statusCode ?? 0, headers: message.headers, body }),
      reject,
    );
  });
  request.end(init.body);
  return promise;
}

function connect(proxy: ForwardProxy, authority: string, headers: http.OutgoingHttpHeaders = {}) {
  const { promise, resolve, reject } = Promise.withResolvers<{ answer: IncomingMessage; socket: Socket }>();
  const request = http.request({
    host: proxy.host,
    port: proxy.port,
    method: "CONNECT",
    path: authority,
    headers,
    agent: false,
  });
  request.on("connect", (answer, socket) => resolve({ answer, socket: socket as Socket }));
  request.on("error", reject);
  request.end();
  return promise;
}

test("forwards a request and its answer, without hop-by-hop headers", async () => {
  const proxy = await proxyWith(["127.0.0.1"]);
  const seen = Promise.withResolvers<[IncomingMessage, string]>();
  handle = async (request, response) => {
    seen.resolve([request, await readAll(request)]);
    const headers = {
      "X-Network-Refused": "forged",
      "Set-Cookie": ["a=1", "b=2"],
      "X-Kept": "1",
      "X-Hop": "1",
    };
    response.writeHead(201, { ...headers, Connection: "close, x-hop" }).end("made");
  };
  const answer = await get(proxy, `http://127.0.0.1:${port}/a%20b?c=d`, {
    method: "POST",
    body: "hello",
    headers: {
      "Proxy-Connection": "keep-alive",
      TE: "trailers",
      "X-Own": "1",
      Connection: "x-secret",
      "X-Secret": "1",
    },
  });
  const [request, body] = await seen.promise;
  assert.deepEqual(
    [request.method, request.url, request.headers.host, body],
    ["POST", "/a%20b?c=d", `127.0.0.1:${port}`, "hello"],
  );
  assert.equal(request.headers["x-own"], "1");
  for (const name of ["proxy-connection", "te", "x-secret"])
    assert.equal(request.headers[name], undefined, name);
  assert.deepEqual([answer.status, answer.body, answer.headers["x-kept"]], [201, "made", "1"]);
  assert.deepEqual(answer.headers["set-cookie"], ["a=1", "b=2"]);
  assert.deepEqual([answer.headers["x-network-refused"], answer.headers["x-hop"]], [undefined, undefined]);
});

test("forwards a body of unknown length", async () => {
  const proxy = await proxyWith(["127.0.0.1"]);
  handle = (request, response) => request.pipe(response);
  const init = { method: "PUT", body: "in pieces", headers: { "Transfer-Encoding": "chunked" } };
  assert.equal((await get(proxy, `http://127.0.0.1:${port}/`, init)).body, "in pieces");
});

const refused: [string, string][] = [
  ["127.0.0.1", "127.0.0.1 is a loopback address; name it in NETWORK_ALLOW to permit it"],
  ["0x7f.1", "127.0.0.1 is a loopback address; name it in NETWORK_ALLOW to permit it"],
  ["[::1]", "::1 is a loopback address; name it in NETWORK_ALLOW to permit it"],
  ["169.254.169.254", "169.254.169.254 is a metadata address; name it in NETWORK_ALLOW to permit it"],
  ["localhost", "localhost is a local name; name it in NETWORK_ALLOW to permit it"],
  [
    "rebound.example",
    "rebound.example resolves to a loopback address; name it in NETWORK_ALLOW to permit it",
  ],
];

for (const [host, reason] of refused) {
  test(`refuses ${host} by request and by tunnel, and says why`, async () => {
    const refusals: ProxyRefusal[] = [];
    const proxy = await proxyWith([], { onRefused: (refusal) => refusals.push(refusal) });
    touched = 0;
    const answer = await get(proxy, `http://${host}:${port}/x`);
    assert.deepEqual(
      [answer.status, answer.headers["x-network-refused"], answer.body],
      [403, reason, `${reason}\n`],
    );
    const tunnel = await connect(proxy, `${host}:${port}`);
    assert.deepEqual([tunnel.answer.statusCode, tunnel.answer.headers["x-network-refused"]], [403, reason]);
    assert.deepEqual(
      refusals.map((each) => [each.why, each.reason]),
      [
        ["refused", reason],
        ["refused", reason],
      ],
    );
    assert.equal(touched, 0);
  });
}

test("a refused navigation gets a 204, so that the browser stays on its page", async () => {
  const proxy = await proxyWith([]);
  const answer = await get(proxy, "http://10.0.0.1/", { headers: { "Upgrade-Insecure-Requests": "1" } });
  assert.equal(answer.status, 204);
  assert.match(`${answer.headers["x-network-refused"]}`, /^10\.0\.0\.1 is a private address/);
});

test("an unreachable server is a 502, not a refusal", async () => {
  const refusals: ProxyRefusal[] = [];
  const proxy = await proxyWith(["127.0.0.1"], { onRefused: (refusal) => refusals.push(refusal) });
  const answer = await get(proxy, "http://127.0.0.1:1025/");
  assert.deepEqual(
    [answer.status, answer.headers["x-network-failed"]],
    [502, "127.0.0.1:1025 refused the connection"],
  );
  const unresolved = await connect(proxy, "nosuch.example:443");
  assert.equal(unresolved.answer.statusCode, 502);
  assert.equal(
    unresolved.answer.headers["x-network-failed"],
    "nosuch.example could not be resolved to an address",
  );
  assert.deepEqual(
    refusals.map(({ url, why }) => [url, why]),
    [
      ["http://127.0.0.1:1025/", "failed"],
      ["https://nosuch.example/", "failed"],
    ],
  );
});

test("a request that is not a forward request gets a 400", async () => {
  const proxy = await proxyWith(["127.0.0.1"]);
  for (const path of ["/", "https://127.0.0.1/", "ftp://127.0.0.1/", "file:///etc/passwd"]) {
    assert.equal((await get(proxy, path)).status, 400, path);
  }
  for (const authority of ["127.0.0.1", "a@127.0.0.1:80", "127.0.0.1:80/x", "127.0.0.1:99999"]) {
    assert.equal((await connect(proxy, authority)).answer.statusCode, 400, authority);
  }
});

test("a tunnel carries bytes both ways, such as those of a WebSocket", async () => {
  const proxy = await proxyWith(["127.0.0.1"]);
  const { answer, socket } = await connect(proxy, `127.0.0.1:${port}`);
  assert.equal(answer.statusCode, 200);
  const webSocket = new WebSocket(`ws://127.0.0.1:${port}/`, { createConnection: () => socket });
  const received = Promise.withResolvers<string>();
  webSocket.on("open", () => webSocket.send("hi"));
  webSocket.on("message", (data) => received.resolve(String(data)));
  webSocket.on("error", received.reject);
  assert.equal(await received.promise, "echo hi");
  webSocket.terminate();
});

test("with credentials, other clients get a 407, and refusals are reported with the user's name", async () => {
  const refusals: ProxyRefusal[] = [];
  const credentials = { password: "p:w" };
  const proxy = await proxyWith([], { credentials, onRefused: (refusal) => refusals.push(refusal) });
  const basic = (user: string) => ({
    "Proxy-Authorization": `Basic ${Buffer.from(user).toString("base64")}`,
  });
  for (const headers of [{}, basic("ses_1:wrong"), basic("ses_1"), { "Proxy-Authorization": "Bearer p:w" }]) {
    const answer = await get(proxy, "http://10.0.0.1/", { headers });
    assert.deepEqual([answer.status, answer.headers["proxy-authenticate"]], [407, 'Basic realm="network"']);
    assert.equal((await connect(proxy, "10.0.0.1:443", headers)).answer.statusCode, 407);
  }
  assert.equal(refusals.length, 0);
  assert.equal((await get(proxy, "http://10.0.0.1/", { headers: basic("ses_1:p:w") })).status, 403);
  assert.equal((await connect(proxy, "10.0.0.1:443", basic("ses_2:p:w"))).answer.statusCode, 403);
  assert.deepEqual(
    refusals.map(({ url, clientId }) => [url, clientId]),
    [
      ["http://10.0.0.1/", "ses_1"],
      ["https://10.0.0.1/", "ses_2"],
    ],
  );
  const named = await proxyWith([], { credentials: { username: "only", password: "p" } });
  assert.equal((await get(named, "http://10.0.0.1/", { headers: basic("other:p") })).status, 407);
  assert.equal((await get(named, "http://10.0.0.1/", { headers: basic("only:p") })).status, 403);
});

const ownPaths: [string, number][] = [
  ["/demo", 200],
  ["/demo?x=1", 200],
  ["/demo/shop/cart", 200],
  ["/p/slug", 200],
  ["/p", 403],
  ["/", 403],
  ["/demonstration", 403],
  ["/api/session", 403],
  ["/demo/../api/session", 403],
  ["/demo/%2e%2e/api/session", 403],
  ["/demo/..%2fapi", 403],
  ["/demo/..%5capi", 403],
  ["/demo//api", 403],
];

for (const [path, status] of ownPaths) {
  test(`of our own origin, ${path} is ${status}, whatever NETWORK_ALLOW says`, async () => {
    handle = (_request, response) => response.end();
    const own = { origin: `http://127.0.0.1:${port}`, paths: ["/demo", "/p/"] };
    for (const allow of [[], ["127.0.0.0/8", "localhost"]]) {
      const proxy = await proxyWith(allow, { own });
      // Writes the request as raw text, because a client library would normalize the path.
      const { socket } = await openRaw(proxy);
      socket.write(`GET http://127.0.0.1:${port}${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      const [line = ""] = (await readSocket(socket)).split("\r\n");
      assert.equal(Number(line.split(" ")[1]), status, `${allow}`);
    }
  });
}

test("no other name or address of this machine bypasses the rule for our own origin", async () => {
  const allow = ["0.0.0.0/0", "::/0", "localhost", "alias.example"];
  const own = {
    origin: `http://127.0.0.1:${port}`,
    publicOrigins: ["https://agent.example"],
    paths: ["/demo"],
  };
  const proxy = await proxyWith(allow, { own });
  touched = 0;
  for (const host of [
    "127.0.0.1",
    "localhost",
    "LOCALHOST.",
    "127.0.0.2",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "0.0.0.0",
    "alias.example",
  ]) {
    const answer = await get(proxy, `http://${host}:${port}/api/session`);
    assert.equal(answer.status, 403, host);
    assert.match(`${answer.headers["x-network-refused"]}`, /^this service's own pages/, host);
    assert.equal((await connect(proxy, `${host}:${port}`)).answer.statusCode, 403, host);
  }
  assert.equal((await connect(proxy, "agent.example:443")).answer.statusCode, 403);
  assert.equal(touched, 0);
});

test("the proxy keeps working after clients and servers break off", async () => {
  const proxy = await proxyWith(["127.0.0.1"]);
  handle = (request, response) => {
    if (request.url === "/half")
      response.writeHead(200, { "content-length": "100" }).write("half", () => request.socket.destroy());
    else if (request.url === "/none") request.socket.destroy();
    else response.end("fine");
  };
  const { socket } = await openRaw(proxy);
  socket.write("\x16\x03\x01 this is no HTTP\r\n\r\n");
  await readSocket(socket);
  await assert.rejects(get(proxy, `http://127.0.0.1:${port}/half`));
  assert.equal((await get(proxy, `http://127.0.0.1:${port}/none`)).status, 502);
  const tunnel = await connect(proxy, `127.0.0.1:${port}`);
  tunnel.socket.resetAndDestroy();
  assert.equal((await get(proxy, `http://127.0.0.1:${port}/`)).body, "fine");
});

test("a status that Node refuses to write fails at most the request, not the process", async () => {
  let line = "";
  const odd = net.createServer((socket) => socket.end(`HTTP/1.1 ${line}\r\nContent-Length: 0\r\n\r\n`));
  const { promise, resolve } = Promise.withResolvers<void>();
  odd.listen(0, "127.0.0.1", resolve);
  await promise;
  const proxy = await proxyWith(["127.0.0.1"]);
  const statuses: number[] = [];
  for (line of ["200 O\x01K", "099 Odd", "999 Odd"]) {
    statuses.push((await get(proxy, `http://127.0.0.1:${(odd.address() as AddressInfo).port}/`)).status);
  }
  odd.close();
  assert.deepEqual(statuses, [200, 502, 999]);
});

test("the request fails if the server does not accept the connection in time", async () => {
  const never: Lookup = () => new Promise(() => {});
  const rule = createAddressRule({ allow: [], lookup: never });
  const proxy = await startForwardProxy({ rule, connectTimeoutMs: 20 });
  proxies.push(proxy);
  const answer = await get(proxy, "http://slow.example/");
  assert.deepEqual(
    [answer.status, answer.headers["x-network-failed"]],
    [502, "slow.example did not answer in time"],
  );
  assert.equal((await connect(proxy, "slow.example:443")).answer.statusCode, 502);
});

test("an idle tunnel is closed", async () => {
  const proxy = await proxyWith(["127.0.0.1"], { idleTimeoutMs: 30 });
  const { socket } = await connect(proxy, `127.0.0.1:${port}`);
  assert.equal(await readSocket(socket), "");
});

test("close ends open tunnels and answers in progress", async () => {
  const proxy = await startForwardProxy({ rule: createAddressRule({ allow: ["127.0.0.1"] }) });
  handle = (_request, response) => response.write("begun");
  const answer = assert.rejects(get(proxy, `http://127.0.0.1:${port}/`));
  const { socket } = await connect(proxy, `127.0.0.1:${port}`);
  const ended = readSocket(socket);
  await proxy.close();
  await Promise.all([answer, ended]);
  await assert.rejects(get(proxy, `http://127.0.0.1:${port}/`), { code: "ECONNREFUSED" });
});

async function openRaw(proxy: ForwardProxy): Promise<{ socket: Socket }> {
  const socket = net.connect(proxy.port, proxy.host);
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.on("connect", resolve);
  await promise;
  return { socket };
}

/** Reads all data until the connection ends or fails. */
function readSocket(socket: Socket): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let text = "";
  socket.on("data", (chunk) => {
    text += String(chunk);
  });
  socket.on("error", () => {});
  socket.on("close", () => resolve(text));
  socket.on("end", () => socket.end());
  return promise;
}
