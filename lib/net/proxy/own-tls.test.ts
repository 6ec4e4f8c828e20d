import assert from "node:assert/strict";
import { once } from "node:events";
import http, { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import { after, before, test } from "node:test";
import { connect as connectTls } from "node:tls";
import { createAddressRule } from "../address/address-rule.ts";
import { type ForwardProxy, type ProxyRefusal, startForwardProxy } from "./forward-proxy.ts";
import { createOwnCertificate, type OwnCertificate } from "./own-certificate.ts";
import { createOwnTls } from "./own-tls.ts";
import type { ProxyContext } from "./proxy-context.ts";

const seen: { host: string | undefined; url: string | undefined }[] = [];
const service = createServer(({ headers: { host }, url }, response) => {
  seen.push({ host, url });
  response.end("the service");
});
let certificate: OwnCertificate;
let proxy: ForwardProxy;
const refusals: ProxyRefusal[] = [];

before(async () => {
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  certificate = await createOwnCertificate(["service.test", "[::1]"]);
  proxy = await startForwardProxy({
    rule: createAddressRule({ allow: ["127.0.0.1", "localhost"] }),
    own: {
      origin: `http://127.0.0.1:${(service.address() as AddressInfo).port}`,
      publicOrigins: ["https://service.test", "https://pages.test:8443"],
      paths: ["/p/"],
    },
    ownCertificate: certificate,
    onRefused: (refusal) => refusals.push(refusal),
  });
});
after(async () => {
  await proxy.close();
  service.closeAllConnections();
  service.close();
});

async function tunnel(authority: string): Promise<{ status: number; socket: Socket }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; socket: Socket }>();
  http
    .request({ host: proxy.host, port: proxy.port, method: "CONNECT", path: authority, agent: false })
    .on("connect", (answer, socket) => resolve({ status: answer.statusCode ?? 0, socket: socket as Socket }))
    .on("error", reject)
    .end();
  return promise;
}

/** Sends a request through a tunnel. The client accepts only the proxy's certificate. */
async function ask(authority: string, path: string, headers: http.OutgoingHttpHeaders = {}) {
  const { socket } = await tunnel(authority);
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const secure = connectTls({ ca: certificate.cert, servername: "service.test", socket });
  http
    .request({ path, headers, createConnection: () => secure })
    .on("response", resolve)
    .on("error", reject)
    .end();
  const answer = await promise;
  const body = Buffer.concat(await answer.toArray()).toString();
  socket.destroy();
  return { status: answer.statusCode, reason: answer.headers["x-network-refused"], body };
}

test("the service answers an allowed path of our own https origin, with the tunnel's host as Host", async () => {
  seen.length = 0;
  const answer = await ask("service.test:443", "/p/x/?a=b", { host: "other.example" });
  assert.deepEqual([answer.status, answer.body], [200, "the service"]);
  await ask("pages.test:8443", "/p/y/");
  assert.deepEqual(seen, [
    { host: "service.test", url: "/p/x/?a=b" },
    { host: "pages.test:8443", url: "/p/y/" },
  ]);
});

test("other paths and sockets are refused before the service sees them", async () => {
  seen.length = 0;
  refusals.length = 0;
  for (const path of [
    "/",
    "/api/health",
    "/p",
    "/p/../api/health",
    "/p/%2f..%2fapi",
    "/p//api",
    "/s/ses_a",
  ]) {
    const { status, reason } = await ask("service.test:443", path);
    assert.equal(status, 403, path);
    assert.match(`${reason}`, /^this service's own pages are not for the agent's browser/, path);
  }
  const socket = { connection: "Upgrade", upgrade: "websocket", "sec-websocket-key": "x" };
  const refused = await ask("service.test:443", "/p/x/", socket);
  assert.deepEqual(
    [refused.status, refused.reason],
    [403, "sockets of this service are not for the agent's browser"],
  );
  assert.equal((await ask("service.test:443", "http://127.0.0.1/p/x/")).status, 400);
  assert.deepEqual(seen, []);
  assert.equal(refusals[0]?.url, "https://service.test/");
});

test("a refused navigation leaves the browser on its page", async () => {
  const { status } = await ask("service.test:443", "/api/health", { "upgrade-insecure-requests": "1" });
  assert.equal(status, 204);
});

test("plain bytes in the tunnel, and tunnels to our other ports, end without an answer from the service", async () => {
  seen.length = 0;
  const { socket } = await tunnel("service.test:443");
  const ended = new Promise((resolve) => socket.on("close", resolve).on("error", () => {}));
  socket.end("GET /p/x/ HTTP/1.1\r\nHost: service.test\r\n\r\n");
  await ended;
  const { port } = service.address() as AddressInfo;
  for (const authority of [`127.0.0.1:${port}`, `localhost:${port}`])
    assert.equal((await tunnel(authority)).status, 403, authority);
  assert.deepEqual(seen, []);
});

test("without the certificate, tunnels to our own origin are refused", async () => {
  const other = await startForwardProxy({
    rule: createAddressRule({ allow: ["127.0.0.1", "localhost"] }),
    own: { origin: "http://127.0.0.1:1", publicOrigins: ["https://service.test"], paths: ["/p/"] },
  });
  const answer = await new Promise<IncomingMessage>((resolve) => {
    http
      .request({
        host: other.host,
        port: other.port,
        method: "CONNECT",
        path: "service.test:443",
        agent: false,
      })
      .on("connect", resolve)
      .end();
  });
  assert.equal(answer.statusCode, 403);
  await other.close();
});

test("a client that does not complete a request in time is disconnected, even if it keeps sending", {
  timeout: 10_000,
}, async (t) => {
  const limits = { headersTimeout: 300, idleTimeoutMs: 60_000 };
  // The context can be empty, because no request in this test reaches the code that uses it.
  const own = createOwnTls({} as ProxyContext, () => [new URL("https://service.test")], certificate, limits);
  const clients: Socket[] = [];
  const server = createTcpServer((client) => {
    clients.push(client.on("error", () => {}));
    own.takeTunnel(client, Buffer.alloc(0), "service.test", 443);
  });
  t.after(() => {
    for (const client of clients) client.destroy();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  for (const sent of ["", "GET /p/x/ HTTP/1.1\r\nHost: service.test\r\nX-A: "]) {
    const socket = connect(port, "127.0.0.1").on("error", () => {});
    clients.push(socket);
    await once(socket, "data");
    const secure = connectTls({ ca: certificate.cert, servername: "service.test", socket });
    const closed = new Promise((resolve) => secure.on("error", () => {}).on("close", resolve));
    await once(secure, "secureConnect");
    secure.write(sent);
    const dripping = setInterval(() => sent !== "" && secure.write("a"), 50);
    t.after(() => clearInterval(dripping));
    await closed;
  }
});
