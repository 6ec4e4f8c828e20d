import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { createAddressRule } from "../address/address-rule.ts";
import { createGuardedWebFetch } from "./guarded-web-fetch.ts";

let handle: RequestListener = (_request, response) => response.end();
const server = createServer((request, response) => handle(request, response));
const webFetch = createGuardedWebFetch(createAddressRule({ allow: ["127.0.0.1"] }), { protocols: ["http:"] });
let origin = "";

before(async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

after(async () => {
  await webFetch.close();
  server.closeAllConnections();
  server.close();
});

test("it works like fetch: URL, Request, Headers, JSON body, a real Response", async () => {
  handle = async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const key = request.headers["x-key"];
    response.writeHead(201, { "content-type": "application/json" });
    response.end(JSON.stringify({ method: request.method, key, body: Buffer.concat(chunks).toString() }));
  };
  const init = { method: "POST", headers: new Headers({ "X-Key": "k" }), body: "{}" };
  for (const input of [`${origin}/a`, new URL(`${origin}/a`)]) {
    const response = await webFetch(input, init);
    assert.ok(response instanceof Response);
    assert.deepEqual([response.status, response.ok, response.url], [201, true, `${origin}/a`]);
    assert.deepEqual(await response.json(), { method: "POST", key: "k", body: "{}" });
  }
  const response = await webFetch(new Request(`${origin}/a`, init));
  assert.deepEqual(await response.json(), { method: "POST", key: "k", body: "{}" });
});

test("a status without a body also yields a Response", async () => {
  handle = (_request, response) => response.writeHead(204).end();
  assert.equal((await webFetch(origin)).status, 204);
});

test("a body streams, and the caller's signal ends it", async () => {
  const closed = Promise.withResolvers<void>();
  handle = (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n");
    response.on("close", closed.resolve);
  };
  const controller = new AbortController();
  const response = await webFetch(origin, { signal: controller.signal });
  const reader = response.body?.getReader();
  const first = await reader?.read();
  assert.equal(new TextDecoder().decode(first?.value), "data: 1\n\n");
  controller.abort();
  await assert.rejects(async () => reader?.read(), { name: "AbortError" });
  await closed.promise;
});

test("a cancelled call rejects with the reason of its signal", async () => {
  const controller = new AbortController();
  const reason = new Error("enough");
  handle = () => controller.abort(reason);
  await assert.rejects(webFetch(origin, { signal: controller.signal }), reason);
});

test("refuses addresses, credentials and schemes that the guard refuses", async () => {
  const refused = [
    "http://10.0.0.1/",
    "http://[::1]/",
    "http://localhost/",
    "http://a:b@127.0.0.1/",
    "https://127.0.0.1/",
  ];
  for (const url of refused)
    await assert.rejects(webFetch(url), { name: "GuardedFetchError", kind: "refused" }, url);
});

test("a redirect is followed only within its origin, with method and body", async () => {
  handle = async (request, response) => {
    const location = request.url === "/mcp" ? "/mcp/" : "http://127.0.0.2/";
    if (request.url === "/mcp/") request.pipe(response);
    else response.writeHead(307, { location }).end();
  };
  const response = await webFetch(`${origin}/mcp`, { method: "POST", body: "hello" });
  assert.deepEqual([response.url, await response.text()], [`${origin}/mcp/`, "hello"]);
  await assert.rejects(webFetch(`${origin}/away`), { kind: "redirect", status: 307 });
});
