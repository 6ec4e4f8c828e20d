import assert from "node:assert/strict";
import { test } from "node:test";
import { createAddressRule, type Lookup, readNetworkAllow } from "./address-rule.ts";

const names: Record<string, string[]> = {
  "public.example": ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"],
  "mixed.example": ["93.184.215.14", "10.1.2.3"],
  "intranet.example": ["10.1.2.3"],
  "six.example": ["fd12::1"],
};
const lookup: Lookup = async (hostname) =>
  (names[hostname] ?? []).map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
const ruleOf = (...allow: string[]) => createAddressRule({ allow, lookup });

test("a public name is allowed with all of its addresses", async () => {
  const verdict = await ruleOf().check(new URL("https://Public.example./path"));
  assert.deepEqual(verdict, { allowed: true, addresses: await lookup("public.example") });
});

test("a name is refused if any of its addresses is private, and the reason omits the address", async () => {
  assert.deepEqual(await ruleOf().check({ hostname: "mixed.example", port: 443 }), {
    allowed: false,
    why: "refused",
    reason: "mixed.example resolves to a private address; name it in NETWORK_ALLOW to permit it",
  });
});

test("a name that cannot be resolved is unresolved, not refused", async () => {
  const unresolved = {
    allowed: false,
    why: "unresolved",
    reason: "nosuch.example could not be resolved to an address",
  };
  assert.deepEqual(await ruleOf().check(new URL("http://nosuch.example/")), unresolved);
  const failing = createAddressRule({ allow: [], lookup: () => Promise.reject(new Error("ENOTFOUND")) });
  assert.deepEqual(await failing.check(new URL("http://nosuch.example/")), unresolved);
  const silent = createAddressRule({ allow: [], lookup: () => new Promise(() => {}), lookupTimeoutMs: 5 });
  assert.deepEqual(await silent.check(new URL("http://nosuch.example/")), unresolved);
});

test("a literal address costs no DNS call", async () => {
  const rule = createAddressRule({ allow: ["10.0.0.0/8"], lookup: () => assert.fail("asked DNS") });
  assert.equal((await rule.check(new URL("http://10.0.0.1/"))).allowed, true);
  assert.equal((await rule.check(new URL("http://8.8.8.8/"))).allowed, true);
  assert.equal((await rule.check(new URL("http://[::1]/"))).allowed, false);
});

test("the reason is a sentence for people", () => {
  const rule = ruleOf();
  const cases: [string, string][] = [
    ["http://127.0.0.1/", "127.0.0.1 is a loopback address; name it in NETWORK_ALLOW to permit it"],
    ["http://[fe80::1]/", "fe80::1 is a link-local address; name it in NETWORK_ALLOW to permit it"],
    [
      "http://169.254.169.254/",
      "169.254.169.254 is a metadata address; name it in NETWORK_ALLOW to permit it",
    ],
    [
      "http://[64:ff9b::10.0.0.1]/",
      "64:ff9b::a00:1 is the NAT64 form of a private address; name it in NETWORK_ALLOW to permit it",
    ],
    ["http://localhost:3000/", "localhost is a local name; name it in NETWORK_ALLOW to permit it"],
    ["ftp://example.com/", "ftp is not an http(s) scheme"],
    ["http://a:b@example.com/", "a URL must not carry credentials"],
    [
      "http://example.com:25/",
      "port 25 of example.com is not a port for HTTP; name it in NETWORK_ALLOW to permit it",
    ],
  ];
  for (const [url, reason] of cases) assert.equal(rule.refuseLiteral(new URL(url)), reason);
});

test("without DNS, public literals and names that are not local are allowed", () => {
  for (const url of [
    "http://8.8.8.8/",
    "https://[2606:4700::1]:8443/",
    "https://intranet.example/",
    "http://[::ffff:8.8.8.8]/",
  ]) {
    assert.equal(ruleOf().refuseLiteral(new URL(url)), undefined, url);
  }
});

test("addresses just outside the special ranges are public", () => {
  const rule = ruleOf();
  const edges =
    "9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255 2600:: 64:ff9b::8.8.8.8";
  for (const address of edges.split(" ")) assert.equal(rule.checkAddress(address, 443), undefined, address);
});

test("NETWORK_ALLOW allows a host, a host at one port, an address, an address at one port, and a network", async () => {
  const cases: [string, string, boolean][] = [
    ["intranet.example", "http://intranet.example:8080/", true],
    ["Intranet.Example", "http://intranet.example./", true],
    ["intranet.example:80", "http://intranet.example/", true],
    ["intranet.example:80", "http://intranet.example:81/", false],
    ["intranet.example", "http://10.1.2.3/", false],
    ["intranet.example", "http://mixed.example/", false],
    ["10.1.2.3", "http://intranet.example/", true],
    ["10.1.2.3:8080", "http://10.1.2.3:8080/", true],
    ["10.1.2.3:8080", "http://10.1.2.3/", false],
    ["10.1.2.3", "http://[::ffff:10.1.2.3]/", true],
    ["10.1.2.3", "http://[64:ff9b::10.1.2.3]/", false],
    ["10.0.0.0/8", "http://mixed.example/", true],
    ["10.0.0.0/8", "http://11.0.0.1/", true],
    ["192.168.0.0/16", "http://10.0.0.1/", false],
    ["fd00::/8", "http://six.example/", true],
    ["fd00::/8", "http://intranet.example/", false],
    ["[::1]:9000", "http://[::1]:9000/", true],
    ["::1", "http://[0:0:0:0:0:0:0:1]:9000/", true],
    ["127.0.0.1:3000", "http://localhost:3000/", false],
    ["example.com:25", "http://example.com:25/", true],
  ];
  names["example.com"] = ["93.184.215.14"];
  for (const [allow, url, isAllowed] of cases) {
    assert.equal((await ruleOf(allow).check(new URL(url))).allowed, isAllowed, `${allow} for ${url}`);
  }
});

test("readNetworkAllow splits the list and names a malformed entry", () => {
  assert.deepEqual(readNetworkAllow(undefined), []);
  assert.deepEqual(readNetworkAllow(" localhost:3000, 10.0.0.0/8 ,,[::1]:80,::1"), [
    "localhost:3000",
    "10.0.0.0/8",
    "[::1]:80",
    "::1",
  ]);
  for (const entry of [
    "10.0.0.0/33",
    "10.0/8",
    "http://x.example",
    "host:99999",
    "host:0",
    "a b",
    "*.corp",
    "u@host",
    "010.0.0.1",
    "[::1",
    "host:port",
    "[zz]:80",
  ]) {
    assert.throws(() => readNetworkAllow(`ok.example,${entry}`), { message: /^NETWORK_ALLOW: / }, entry);
  }
});

test("a reserved port of this machine is refused under any name, even if NETWORK_ALLOW allows it, until it is released", async () => {
  const home: Lookup = async () => [{ address: "127.0.0.1", family: 4 }];
  const rule = createAddressRule({ allow: ["127.0.0.1", "home.example", "::1", "10.0.0.0/8"], lookup: home });
  const giveBack = rule.reservePort(9222);
  for (const url of ["http://127.0.0.1:9222/", "http://[::1]:9222/", "http://home.example:9222/"]) {
    const verdict = await rule.check(new URL(url));
    assert.equal(verdict.allowed, false, url);
    assert.match(verdict.allowed ? "" : verdict.reason, /belongs to the service's own browsers/);
  }
  assert.equal((await rule.check(new URL("http://127.0.0.1:9223/"))).allowed, true);
  assert.equal((await rule.check(new URL("http://10.1.2.3:9222/"))).allowed, true);
  giveBack();
  assert.equal((await rule.check(new URL("http://127.0.0.1:9222/"))).allowed, true);
});
