import assert from "node:assert/strict";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import type { NetworkRefusal } from "#lib/security-log/security-events.ts";
import { createAddressRule, type Lookup } from "../address/address-rule.ts";
import { hostileHosts, hostileLookup, hostilePlaces } from "../hostile-urls-testing.ts";
import {
  createGuardedFetch,
  type GuardedFetch,
  type GuardedFetchInit,
  isGuardedFetchError,
} from "./guarded-fetch.ts";
import { createGuardedWebFetch } from "./guarded-web-fetch.ts";
import { reportRefusals } from "./report-refusals.ts";

let canary: Server;
let port = 0;
let touched = 0;
let handle: RequestListener = (_request, response) => response.end("canary");
const opened: (GuardedFetch | Server)[] = [];

before(async () => {
  canary = await listen((request, response) => handle(request, response));
  canary.on("connection", () => {
    touched += 1;
  });
  port = portOf(canary);
});

after(async () => {
  for (const each of opened) await each.close();
  canary.closeAllConnections();
});

async function listen(listener: RequestListener): Promise<Server> {
  const server = createServer(listener);
  const { promise, resolve } = Promise.withResolvers<void>();
  // Without a host argument, the server listens on all IPv4 and IPv6 addresses of the machine. The hostile URLs use
  // many of them.
  server.listen(0, resolve);
  await promise;
  opened.push(server);
  return server;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

function fetchWith(allow: string[], lookup?: Lookup): GuardedFetch {
  const guardedFetch = createGuardedFetch(createAddressRule(lookup ? { allow, lookup } : { allow }));
  opened.push(guardedFetch);
  return guardedFetch;
}

const local = (init: GuardedFetchInit = {}, path = "/") =>
  fetchWith([`127.0.0.1:${port}`])(`http://127.0.0.1:${port}${path}`, init);
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const kind = (expected: string) => (error: unknown) => {
  assert.ok(isGuardedFetchError(error), String(error));
  assert.equal(error.kind, expected, error.message);
  return true;
};

test(`none of ${hostileHosts.length} hostile hosts reaches the canary, by http or https`, async () => {
  const guardedFetch = fetchWith([], hostileLookup);
  touched = 0;
  assert.ok(hostileHosts.length >= 150);
  await Promise.all(
    hostileHosts.flatMap((host) =>
      ["http", "https"].map((scheme) =>
        assert.rejects(guardedFetch(`${scheme}://${host}:${port}/`), kind("refused"), `${scheme}://${host}`),
      ),
    ),
  );
  assert.equal(touched, 0);
});

for (const place of hostilePlaces) {
  test(`refuses ${place}`, async () => {
    const guardedFetch = fetchWith([], async () => [{ address: "127.0.0.1", family: 4 }]);
    touched = 0;
    await assert.rejects(guardedFetch(place), kind("refused"));
    assert.equal(touched, 0);
  });
}

test("a name that resolves to another address after the check is refused while connecting", async () => {
  let lookups = 0;
  const lookup: Lookup = async () => {
    lookups += 1;
    return [{ address: lookups === 1 ? "93.184.215.14" : "127.0.0.1", family: 4 }];
  };
  const rule = createAddressRule({ allow: [], lookup });
  const guardedFetch = createGuardedFetch(rule);
  opened.push(guardedFetch);
  touched = 0;
  assert.equal((await rule.check(new URL(`http://rebind.example:${port}/`))).allowed, true);
  await assert.rejects(guardedFetch(`http://rebind.example:${port}/`), kind("refused"));
  assert.equal(touched, 0);
});

test("a scheme outside `protocols` is refused", async () => {
  await assert.rejects(local({ protocols: ["https:"] }), kind("refused"));
});

test("NETWORK_ALLOW allows an address at its port, a network, and a name", async () => {
  handle = (_request, response) => response.end("hello");
  const own = await local();
  assert.equal(text(own.body), "hello");
  assert.equal(own.status, 200);
  assert.equal(own.url, `http://127.0.0.1:${port}/`);
  assert.ok(own.latencyMs > 0);
  const byNetwork = await fetchWith(["127.0.0.0/8"])(`http://127.1:${port}/`);
  assert.equal(text(byNetwork.body), "hello");
  const lookup: Lookup = async () => [{ address: "127.0.0.1", family: 4 }];
  const byName = await fetchWith(["shop.test"], lookup)(`http://shop.test:${port}/`);
  assert.equal(text(byName.body), "hello");
});

test("method, headers and the exact bytes of the body arrive", async () => {
  const seen = Promise.withResolvers<{ method?: string; type?: string; body: string }>();
  handle = async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method, headers } = request;
    seen.resolve({
      method: `${method}`,
      type: `${headers["content-type"]}`,
      body: Buffer.concat(chunks).toString("hex"),
    });
    response.writeHead(202, { "Retry-After": "7" }).end();
  };
  const body = new Uint8Array([0, 255, 10]);
  const answer = await local({
    method: "post",
    headers: { "Content-Type": "application/octet-stream" },
    body,
  });
  assert.deepEqual(await seen.promise, { method: "POST", type: "application/octet-stream", body: "00ff0a" });
  assert.equal(answer.status, 202);
  assert.equal(answer.headers.get("retry-after"), "7");
});

test("connections are reused", async () => {
  handle = (_request, response) => response.end("x");
  const guardedFetch = fetchWith(["127.0.0.1"]);
  touched = 0;
  for (let count = 0; count < 5; count += 1) await guardedFetch(`http://127.0.0.1:${port}/`);
  assert.ok(touched < 3, `${touched} connections for five requests`);
});

test("the deadline covers the whole exchange: a server that drips its body is cut off", async () => {
  handle = (_request, response) => {
    response.writeHead(200);
    const drip = setInterval(() => response.write("."), 5);
    response.on("close", () => clearInterval(drip));
  };
  await assert.rejects(local({ timeoutMs: 80 }), kind("timeout"));
});

test("the deadline also ends a silent server, and a resolver that never answers", async () => {
  handle = () => {};
  await assert.rejects(local({ timeoutMs: 40 }), kind("timeout"));
  const rule = createAddressRule({ allow: [], lookup: () => new Promise(() => {}), lookupTimeoutMs: 500 });
  const guardedFetch = createGuardedFetch(rule, { timeoutMs: 40 });
  opened.push(guardedFetch);
  await assert.rejects(guardedFetch("http://slow.example/"), kind("timeout"));
});

test("the caller's signal ends the exchange as aborted", async () => {
  const controller = new AbortController();
  handle = () => controller.abort();
  await assert.rejects(local({ signal: controller.signal }), kind("aborted"));
  await assert.rejects(local({ signal: AbortSignal.abort() }), kind("aborted"));
});

test("a body over the limit fails, or is cut to the limit and marked as truncated", async () => {
  handle = (_request, response) => response.end("0123456789");
  await assert.rejects(local({ maxBytes: 9 }), kind("too_large"));
  const cut = await local({ maxBytes: 9, overflow: "truncate" });
  assert.deepEqual([text(cut.body), cut.truncated], ["012345678", true]);
  const whole = await local({ maxBytes: 10 });
  assert.deepEqual([text(whole.body), whole.truncated], ["0123456789", false]);
});

test("an endless body is read only up to the limit", async () => {
  handle = (_request, response) => {
    const more = () => {
      while (!response.destroyed && response.write("x".repeat(65_536)));
    };
    response.on("drain", more);
    more();
  };
  const cut = await local({ maxBytes: 1_000, overflow: "truncate" });
  assert.equal(cut.body.byteLength, 1_000);
});

const packers = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync, zstd: zstdCompressSync };
for (const [encoding, pack] of Object.entries(packers)) {
  test(`a body in ${encoding} is decoded, and a bomb in it stops at the cap`, async () => {
    handle = (request, response) => {
      const plain = request.url === "/bomb" ? Buffer.alloc(8_000_000) : Buffer.from("hello");
      response.writeHead(200, { "content-encoding": encoding }).end(pack(plain));
    };
    const small = await local();
    assert.deepEqual([text(small.body), small.headers.get("content-encoding")], ["hello", null]);
    await assert.rejects(local({ maxBytes: 10_000 }, "/bomb"), kind("too_large"));
    const cut = await local({ maxBytes: 10_000, overflow: "truncate" }, "/bomb");
    assert.deepEqual([cut.body.byteLength, cut.truncated], [10_000, true]);
  });
}

test("bodies with chained or unknown encodings are returned undecoded; corrupt ones fail", async () => {
  const packed = gzipSync(gzipSync("hello"));
  handle = (request, response) => {
    const isBroken = request.url === "/broken";
    const encoding = isBroken ? "gzip" : "gzip, gzip";
    response.writeHead(200, { "content-encoding": encoding }).end(isBroken ? "no gzip" : packed);
  };
  const answer = await local();
  assert.deepEqual(Buffer.from(answer.body), packed);
  assert.equal(answer.headers.get("content-encoding"), "gzip, gzip");
  await assert.rejects(local({}, "/broken"), kind("network"));
});

test("a redirect fails by default, and the error has its status", async () => {
  handle = (_request, response) => response.writeHead(302, { location: "/there" }).end();
  await assert.rejects(
    local(),
    (error) => kind("redirect")(error) && isGuardedFetchError(error) && error.status === 302,
  );
});

test("followed redirects are checked hop by hop", async () => {
  const targets = [
    "http://10.0.0.1/",
    "http://[::1]:1/",
    "http://localhost/",
    "file:///etc/passwd",
    "http://a:b@127.0.0.1/",
  ];
  for (const location of targets) {
    handle = (_request, response) => response.writeHead(302, { location }).end();
    await assert.rejects(local({ redirect: "follow" }), kind("refused"), location);
  }
  handle = (_request, response) => response.writeHead(302).end();
  await assert.rejects(local({ redirect: "follow" }), kind("redirect"));
});

test("at most five redirects are followed", async () => {
  handle = (request, response) => {
    const left = Number(request.url?.slice(1));
    if (left === 0) response.end("arrived");
    else response.writeHead(307, { location: `/${left - 1}` }).end();
  };
  const answer = await local({ redirect: "follow" }, "/5");
  assert.deepEqual([text(answer.body), answer.url], ["arrived", `http://127.0.0.1:${port}/0`]);
  await assert.rejects(local({ redirect: "follow" }, "/6"), kind("redirect"));
});

test("after a redirect, another origin gets none of the caller's own headers, and the same origin gets all", async () => {
  const seen: Record<string, unknown>[] = [];
  const other = await listen((request, response) => {
    seen.push({ ...request.headers });
    response.end();
  });
  handle = (request, response) => {
    seen.push({ ...request.headers });
    const location = request.url === "/" ? "/again" : `http://127.0.0.1:${portOf(other)}/`;
    response.writeHead(302, { location }).end();
  };
  const headers = { Authorization: "Bearer s", "X-Api-Key": "s", Cookie: "s=1", Accept: "text/html" };
  await fetchWith(["127.0.0.1"])(`http://127.0.0.1:${port}/`, { headers, redirect: "follow" });
  assert.deepEqual(
    seen.map((each) => [each.authorization, each["x-api-key"], each.cookie, each.accept]),
    [
      ["Bearer s", "s", "s=1", "text/html"],
      ["Bearer s", "s", "s=1", "text/html"],
      [undefined, undefined, undefined, "text/html"],
    ],
  );
});

test("a redirected POST becomes a GET without a body, and a body is never sent to another origin", async () => {
  const seen: unknown[] = [];
  handle = (request, response) => {
    seen.push([request.method, request.headers["content-type"]]);
    if (request.url === "/") response.writeHead(303, { location: "/done" }).end();
    else if (request.url === "/away") response.writeHead(307, { location: "http://127.0.0.2/" }).end();
    else response.end();
  };
  const init: GuardedFetchInit = {
    method: "POST",
    body: "{}",
    headers: { "content-type": "text/plain" },
    redirect: "follow",
  };
  await local(init);
  assert.deepEqual(seen, [
    ["POST", "text/plain"],
    ["GET", undefined],
  ]);
  await assert.rejects(local(init, "/away"), kind("redirect"));
});

test("network failures are sentences without internal addresses", async () => {
  handle = (request) => request.socket.destroy();
  await assert.rejects(local(), { kind: "network", message: `127.0.0.1:${port} closed the connection` });
  const lookup: Lookup = async (name) => (name === "gone.test" ? [{ address: "127.0.0.1", family: 4 }] : []);
  const guardedFetch = fetchWith(["gone.test"], lookup);
  await assert.rejects(guardedFetch("http://gone.test:1024/"), {
    kind: "network",
    message: "gone.test:1024 refused the connection",
  });
  await assert.rejects(guardedFetch("http://nosuch.example/"), {
    kind: "network",
    message: "nosuch.example could not be resolved to an address",
  });
  await assert.rejects(fetchWith(["127.0.0.1"])(`https://127.0.0.1:${port}/`), kind("network"));
});

test("a closed guarded fetch fails", async () => {
  const guardedFetch = fetchWith(["127.0.0.1"]);
  await guardedFetch.close();
  await assert.rejects(guardedFetch(`http://127.0.0.1:${port}/`), kind("network"));
});

test("a refusal is reported once, with its purpose and the host of the refused hop", async () => {
  const refusals: NetworkRefusal[] = [];
  const guarded = createGuardedFetch(createAddressRule({ allow: [`127.0.0.1:${port}`] }), {
    onRefused: (refusal) => void refusals.push(refusal),
  });
  opened.push(guarded);
  handle = (_request, response) => response.writeHead(302, { location: "http://10.1.2.3/x?y=z" }).end();
  const purpose = { source: "callback", sessionId: "ses_a" } as const;
  await assert.rejects(
    guarded(`http://127.0.0.1:${port}/`, { purpose, redirect: "follow" }),
    kind("refused"),
  );
  await assert.rejects(guarded("http://169.254.169.254/"), kind("refused"));
  handle = (_request, response) => response.end("canary");
  await guarded(`http://127.0.0.1:${port}/`, { purpose });
  await assert.rejects(guarded("http://127.0.0.1:1/", { purpose }), kind("refused"));
  assert.deepEqual(
    refusals.map(({ source, sessionId, host }) => [source, sessionId, host]),
    [
      ["callback", "ses_a", "10.1.2.3"],
      ["service", undefined, "169.254.169.254"],
      ["callback", "ses_a", "127.0.0.1:1"],
    ],
  );
});

test("reportRefusals reports the refusals of a web fetch, and no other failure", async () => {
  const refusals: { host: string; reason: string }[] = [];
  const web = createGuardedWebFetch(createAddressRule({ allow: ["127.0.0.1"] }), { protocols: ["http:"] });
  opened.push({ close: () => web.close() } as GuardedFetch);
  const fetch = reportRefusals(web, (refusal) => void refusals.push(refusal));
  assert.equal(await (await fetch(`http://127.0.0.1:${port}/`)).text(), "canary");
  await assert.rejects(fetch(new Request("http://10.1.2.3/mcp?token=x")), kind("refused"));
  await assert.rejects(fetch("http://127.0.0.1:1/"), kind("network"));
  assert.deepEqual(
    refusals.map(({ host }) => host),
    ["10.1.2.3"],
  );
});
