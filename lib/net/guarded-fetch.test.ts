import assert from "node:assert/strict";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { createAddressRule, type Lookup } from "./address-rule.ts";
import {
  createGuardedFetch,
  type GuardedFetch,
  type GuardedFetchInit,
  isGuardedFetchError,
} from "./guarded-fetch.ts";

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
  // Without a host it listens on every address of the machine, IPv6 included, where the hostile URLs look for it.
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

/** Every name here resolves, in the test's resolver, to the addresses beside it. */
const names: Record<string, string[]> = {
  "loop.example": ["127.0.0.1"],
  "loop6.example": ["::1"],
  "mixed.example": ["93.184.215.14", "127.0.0.1"],
  "mapped.example": ["::ffff:127.0.0.1"],
  "nat64.example": ["64:ff9b::7f00:1"],
  "private.example": ["192.168.1.1"],
  "meta.example": ["169.254.169.254"],
  "zero.example": ["0.0.0.0"],
  "zone.example": ["fe80::1%lo"],
  "nonsense.example": ["not an address"],
  "xn--mnchen-3ya.example": ["127.0.0.1"],
};

const hosts = `
127.0.0.1 127.0.0.1. 127.1 127.0.1 127.255.255.254 2130706433 017700000001 0177.0.0.1 0177.0.0.01 0x7f000001 0x7F.0.0.1
0x7f.1 127.0x0.0.1 0x7f.0x0.0x0.0x1 00000177.0.0.1 %31%32%37.0.0.1 127%2E0%2E0%2E1 127。0。0。1 127．0．0．1 １２７.0.0.1
①②⑦.⓪.⓪.① ⑫7.0.0.1 0 0.0.0.0 0.0 00 0x0 0.1.2.3
10.0.0.1 10.1 0xa.1 012.1 167772161 172.16.0.1 172.31.255.255 192.168.0.1 192.168.257 3232235521 100.64.0.1 100.127.255.255
169.254.0.1 169.254.169.254 169.254.169.254. 2852039166 0xa9fea9fe 0251.0376.0251.0376 169.254.43518 169.254.170.2
100.100.100.200 168.63.129.16 192.0.0.192 192.0.2.1 198.18.0.1 198.51.100.7 203.0.113.9 192.88.99.1 224.0.0.1 239.255.255.255
240.0.0.1 255.255.255.255 4294967295
[::1] [0:0:0:0:0:0:0:1] [0000::0001] [::] [::127.0.0.1] [::7f00:1] [::ffff:127.0.0.1] [::FFFF:7f00:1] [::ffff:10.0.0.1]
[::ffff:169.254.169.254] [0:0:0:0:0:ffff:7f00:1] [::ffff:0:127.0.0.1] [64:ff9b::127.0.0.1] [64:ff9b::a9fe:a9fe]
[64:ff9b:1::1] [64:ff9b:1:7f00:0:100::] [2002:7f00:1::] [2002:a00:1::1] [2001:0:4136:e378:8000:63bf:80ff:fffe]
[2001:db8::1] [2001:2::1] [2001:10::1] [3fff::1] [fc00::1] [fd00:ec2::254] [fd12:3456::1] [fe80::1] [febf::1] [fec0::1]
[ff02::1] [ff0e::1] [100::1] [5f00::1] [4000::1] [2606:4700::5efe:7f00:1]
localhost LOCALHOST LocalHost. ｌｏｃａｌｈｏｓｔ localhost.localdomain a.localhost foo.LOCALHOST. printer.local db.internal
metadata.google.internal METADATA.google.INTERNAL. instance-data.ec2.internal router.home.arpa
loop.example LOOP.Example. loop6.example mixed.example mapped.example nat64.example private.example meta.example zero.example
zone.example nonsense.example münchen.example`
  .trim()
  .split(/\s+/);

test(`none of ${hosts.length} hostile hosts reaches the canary, by http or https`, async () => {
  const lookup: Lookup = async (name) => (names[name] ?? []).map((address) => ({ address, family: 4 }));
  const guardedFetch = fetchWith([], lookup);
  touched = 0;
  assert.ok(hosts.length >= 80);
  await Promise.all(
    hosts.flatMap((host) =>
      ["http", "https"].map((scheme) =>
        assert.rejects(guardedFetch(`${scheme}://${host}:${port}/`), kind("refused"), `${scheme}://${host}`),
      ),
    ),
  );
  assert.equal(touched, 0);
});

const places = [
  "http://user@public.example/",
  "http://user:pass@public.example/",
  "http://:pass@public.example/",
  "http://public.example@127.0.0.1/",
  "http://127.0.0.1\\@public.example/",
  "http://public.example#@127.0.0.1:0/",
  "ftp://public.example/",
  "file:///etc/passwd",
  "gopher://127.0.0.1/",
  "ws://public.example/",
  "data:text/plain,hi",
  "javascript:alert(1)",
  "blob:http://public.example/1",
  "http://public.example:0/",
  "http://public.example:22/",
  "https://public.example:25/",
  "http://public.example:6379@localhost/",
  "http:localhost",
  "http:\\\\localhost\\",
  "//localhost/",
  "http://",
  "http://256.1.1.1/",
  "http://1.2.3.4.5/",
  "http://[::1/",
  "http://public.example:99999/",
  "not a url",
];

for (const place of places) {
  test(`refuses ${place}`, async () => {
    const guardedFetch = fetchWith([], async () => [{ address: "127.0.0.1", family: 4 }]);
    touched = 0;
    await assert.rejects(guardedFetch(place), kind("refused"));
    assert.equal(touched, 0);
  });
}

test("a name that changes its answer after the check is refused while connecting", async () => {
  let asked = 0;
  const lookup: Lookup = async () => {
    asked += 1;
    return [{ address: asked === 1 ? "93.184.215.14" : "127.0.0.1", family: 4 }];
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

test("NETWORK_ALLOW lets an address at its port, a network, and a name through", async () => {
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

test("connections are kept and used again", async () => {
  handle = (_request, response) => response.end("x");
  const guardedFetch = fetchWith(["127.0.0.1"]);
  touched = 0;
  for (let count = 0; count < 5; count += 1) await guardedFetch(`http://127.0.0.1:${port}/`);
  assert.ok(touched < 3, `${touched} connections for five requests`);
});

test("one deadline is over the whole exchange: a server that drips its body is cut off", async () => {
  handle = (_request, response) => {
    response.writeHead(200);
    const drip = setInterval(() => response.write("."), 5);
    response.on("close", () => clearInterval(drip));
  };
  const startedAt = performance.now();
  await assert.rejects(local({ timeoutMs: 80 }), kind("timeout"));
  assert.ok(performance.now() - startedAt < 2_000);
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

test("a body over the cap fails, or is cut to the cap and marked", async () => {
  handle = (_request, response) => response.end("0123456789");
  await assert.rejects(local({ maxBytes: 9 }), kind("too_large"));
  const cut = await local({ maxBytes: 9, overflow: "truncate" });
  assert.deepEqual([text(cut.body), cut.truncated], ["012345678", true]);
  const whole = await local({ maxBytes: 10 });
  assert.deepEqual([text(whole.body), whole.truncated], ["0123456789", false]);
});

test("an endless body is left at the cap", async () => {
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

test("chained or unknown encodings are handed over as they came; broken ones fail", async () => {
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

test("a redirect fails by default, and its status is told", async () => {
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

test("another origin gets none of the caller's own headers, the same origin all", async () => {
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

test("a redirected POST becomes a GET without a body, and a body never goes to another origin", async () => {
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

test("network failures are sentences without addresses of the inside", async () => {
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
