import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import net, { type AddressInfo } from "node:net";
import { hostname } from "node:os";
import { after, before, beforeEach, describe, it } from "node:test";
import { sql } from "drizzle-orm";
import { sessions } from "#db/schema/index.ts";
import { openTestDatabase, type TestDatabase } from "#db/testing.ts";
import { createSessionSchema } from "#lib/api/contract/schemas/create-session.ts";
import { type CreationServices, createSession } from "#lib/api/operations/create-session.ts";
import { createBrowserEgress } from "#lib/browser/process/browser-egress.ts";
import { sendCallback } from "#lib/callback/send-callback.ts";
import { type AddressRule, createAddressRule, type Lookup } from "#lib/net/address/address-rule.ts";
import { createGuardedFetch } from "#lib/net/fetch/guarded-fetch.ts";
import { createGuardedWebFetch } from "#lib/net/fetch/guarded-web-fetch.ts";
import { hostileHosts, hostileLookup, hostilePlaces } from "#lib/net/hostile-urls-testing.ts";
import { startForwardProxy } from "#lib/net/proxy/forward-proxy.ts";
import { createSealer } from "#lib/secrets/sealer.ts";
import { silentSecurityLog } from "#lib/security-log/security-log.ts";
import { createFreshRuns } from "#lib/session/run/fresh-runs.ts";
import { createShareLinks } from "#lib/session/share/share-link.ts";
import type { ToolCall } from "#lib/tools/tool.ts";
import { fetchUrl } from "#lib/tools/workspace/fetch/fetch-url.ts";
import type { WorkspaceServices } from "#lib/tools/workspace/services.ts";

// Every way by which a URL of somebody else's becomes a request of ours, with a canary that listens where they lead.

let canary: Server;
let redirector: Server;
let database: TestDatabase;
/** Connections that the canary has seen. */
let touched = 0;
let port = 0;
let redirectTo = "";
const closing: { close: () => unknown }[] = [];

before(async () => {
  database = await openTestDatabase();
  canary = await listen(createServer((_request, response) => response.end("canary")));
  canary.on("connection", () => {
    touched += 1;
  });
  redirector = await listen(
    createServer((_request, response) => response.writeHead(307, { location: redirectTo }).end()),
  );
  port = portOf(canary);
});
after(async () => {
  for (const each of closing) await each.close();
  for (const server of [canary, redirector]) server.closeAllConnections();
  await database.close();
});
beforeEach(() => {
  touched = 0;
});

async function listen(server: Server): Promise<Server> {
  // On every address of the machine, IPv6 included.
  await new Promise<void>((done) => server.listen(0, done));
  closing.push(server);
  return server;
}
const portOf = (server: Server) => (server.address() as AddressInfo).port;

/** Every hostile URL, those with a host of the list pointed at the canary. */
const urls = () => [
  ...hostileHosts.flatMap((host) => [`http://${host}:${port}/`, `https://${host}:${port}/`]),
  `http://${hostname()}:${port}/`,
  `http://localhost:${port}/@public.example`,
  ...hostilePlaces.map((place) =>
    place.replace(/(127\.0\.0\.1|localhost|LOCALHOST)(?=[/\\#?]|$)/, `$1:${port}`),
  ),
];

/** Hostile names lead where the table says, everything else to this machine. */
const lookup: Lookup = async (name) => {
  const known = await hostileLookup(name);
  return known.length > 0 ? known : [{ address: "127.0.0.1", family: 4 }];
};
const makeRule = (allow: string[] = [], resolve: Lookup = lookup) =>
  createAddressRule({ allow, lookup: resolve });

function keep<Closable extends { close: () => unknown }>(each: Closable): Closable {
  closing.push(each);
  return each;
}

const creationWith = (rule: AddressRule): CreationServices => ({
  db: database.db,
  rule,
  tools: [],
  skills: { take: async () => [] },
  quota: { admit: async () => ({ ok: true, settle() {} }), forget() {} },
  settings: {
    delegation: { maxLiveChildren: 4, maxLiveBrowsers: 4 },
    model: { id: "scripted", label: "scripted", isDemo: false, isPriced: false },
  },
  sealer: createSealer(new Uint8Array(32)),
  shares: createShareLinks(database.db, new Uint8Array(32)),
  jobs: { sendSoon: () => {}, plan: () => undefined, begin: () => {}, sweep: async () => 0 },
  freshRuns: createFreshRuns(),
  schemas: { admitSchema: async () => ({ ok: true }) },
  callbackRules: { secretLengthMin: 0, refuseHttp: () => undefined },
  readSubAgentFlag: async () => false,
  securityLog: silentSecurityLog,
});

/** Why a session with these fields is not made; undefined where it is. */
async function refuseCreation(
  rule: AddressRule,
  fields: Record<string, unknown>,
): Promise<string | undefined> {
  const sent = { messages: [{ role: "user", parts: [{ type: "text", text: "Hello" }] }], ...fields };
  const parsed = createSessionSchema.safeParse(sent);
  if (!parsed.success) return `${parsed.error.issues[0]?.path.join(".")}: ${parsed.error.issues[0]?.message}`;
  const caller = { keyId: "key", ownerId: "owner", scopes: [] };
  const answer = await createSession(creationWith(rule), { body: parsed.data, hashBody: () => "", caller });
  if (answer instanceof Response || answer.ok) return undefined;
  assert.equal(answer.code, "invalid_request");
  return answer.error;
}

const countSessions = async () =>
  (await database.db.select({ count: sql<number>`count(*)::int` }).from(sessions))[0]?.count;

/** Asks a forward proxy raw, so that it gets the very text. @returns the first line of its answer. */
async function askProxy(proxyPort: number, request: string): Promise<string> {
  const socket = net.connect(proxyPort, "127.0.0.1");
  let answer = "";
  socket.setTimeout(5_000, () => socket.destroy());
  socket.on("data", (chunk) => {
    answer += chunk;
    if (answer.includes("\r\n")) socket.destroy();
  });
  socket.on("error", () => {});
  socket.write(request);
  await new Promise((done) => socket.once("close", done));
  return answer.split("\r\n")[0] ?? "";
}

const fetchTool = (rule: AddressRule) => {
  const services = { fetch: keep(createGuardedFetch(rule)) } as unknown as WorkspaceServices;
  const tool = fetchUrl(services);
  const call = { signal: AbortSignal.timeout(20_000) } as ToolCall;
  return async (url: string) => {
    const input = tool.input.safeParse({ url });
    if (!input.success) return "not even taken as an input";
    const result = await tool.execute(input.data, call);
    const [first] = result.content;
    return result.isError && first?.type === "text" ? first.text : undefined;
  };
};

const callback = (url: string) => ({
  id: "whd-1",
  sessionId: "ses_a",
  event: "run.started",
  url,
  secret: null,
  body: Buffer.from("{}"),
});
const attempt = { timeoutMs: 2_000, now: () => new Date() };
/** What a guard says, and what neither a network nor a server does. */
const REFUSED =
  /NETWORK_ALLOW|not a permitted scheme|not an http\(s\) scheme|must not carry credentials|is not valid|is not an IP address/;

describe(`hostile URLs, ${hostileHosts.length * 2 + hostilePlaces.length + 2} of them`, () => {
  it("the canary is there", async () => {
    const fetch = keep(createGuardedFetch(makeRule(["127.0.0.1"])));
    assert.equal((await fetch(`http://127.0.0.1:${port}/`)).status, 200);
    assert.equal(touched, 1);
  });

  it("make no session as callback.url: each is a sentence that names the field", async () => {
    const rule = makeRule();
    const before = await countSessions();
    for (const url of urls())
      assert.match(
        (await refuseCreation(rule, { callback: { url } })) ?? "accepted",
        /^callback\.url: /,
        url,
      );
    assert.deepEqual([await countSessions(), touched], [before, 0]);
  });

  it("get no callback, should one have come into the rows", async () => {
    const fetch = keep(createGuardedFetch(makeRule()));
    for (const url of urls()) {
      const { status, error } = await sendCallback(fetch, callback(url), attempt);
      assert.equal(status, null, url);
      assert.match(error ?? "delivered", REFUSED, url);
    }
    assert.equal(touched, 0);
  });

  it("are no tool server: refused at creation unless https, and by its connections in any case", async () => {
    const rule = makeRule();
    for (const url of urls()) {
      if (/^https:\/\/[^@]*$/i.test(url)) continue;
      const refusal = await refuseCreation(rule, { mcpServers: { crm: { url } } });
      assert.match(refusal ?? "accepted", /^mcpServers\.crm\.url: /, url);
    }
    const fetch = keep(createGuardedWebFetch(rule, { protocols: ["https:", "http:"], timeoutMs: 2_000 }));
    for (const url of urls())
      await assert.rejects(fetch(url), (error: Error) => !/time|connection/.test(error.message), url);
    assert.equal(touched, 0);
  });

  it("are not fetched by fetch_url", async () => {
    const run = fetchTool(makeRule());
    for (const url of urls())
      assert.match((await run(url)) ?? "fetched", /could not be fetched|not even taken/, url);
    assert.equal(touched, 0);
  });

  it("are not passed on by the browser's proxy, in either form, nor gone to by a tool", async () => {
    const rule = makeRule();
    const proxy = keep(await startForwardProxy({ rule }));
    const egress = createBrowserEgress(rule, undefined, { debug() {}, info() {}, warn() {}, error() {} });
    for (const text of urls()) {
      const url = URL.parse(text);
      // As it stands, and as a browser would write it; a text that is no HTTP is answered by hanging up.
      for (const form of new Set([text.replace(/[^\x21-\uffff]/g, ""), url?.href ?? ""])) {
        const asked = await askProxy(proxy.port, `GET ${form} HTTP/1.1\r\nHost: public.example\r\n\r\n`);
        assert.match(asked, /^HTTP\/1\.1 (400|403)|^$/, form);
      }
      if (!url?.host) continue;
      const authority = `${url.hostname}:${url.port || 443}`;
      const tunnel = await askProxy(proxy.port, `CONNECT ${authority} HTTP/1.1\r\nHost: x\r\n\r\n`);
      assert.match(tunnel, /^HTTP\/1\.1 (400|403)/, text);
      assert.ok(await egress.refuse(url), text);
    }
    assert.equal(touched, 0);
  });
});

describe("a redirect to a private place", () => {
  const places = () =>
    [`127.0.0.1:${port}`, `[::1]:${port}`, `loop.example:${port}`, `0x7f.1:${port}`, "169.254.169.254"].map(
      (host) => `http://${host}/latest/meta-data`,
    );
  const open = () => {
    const start = `http://127.0.0.1:${portOf(redirector)}/`;
    return { start, rule: makeRule([`127.0.0.1:${portOf(redirector)}`]) };
  };

  it("is not followed by a callback", async () => {
    const { start, rule } = open();
    const fetch = keep(createGuardedFetch(rule));
    for (redirectTo of places()) {
      const { status, error } = await sendCallback(fetch, callback(start), attempt);
      assert.equal(status, 307);
      assert.match(error ?? "", /answered with a redirect \(307\), which is not followed/);
    }
    assert.equal(touched, 0);
  });

  it("is not followed by a tool server's connection, and refused to fetch_url", async () => {
    const { start, rule } = open();
    const fetch = keep(createGuardedWebFetch(rule, { protocols: ["https:", "http:"], timeoutMs: 2_000 }));
    const run = fetchTool(rule);
    for (redirectTo of places()) {
      await assert.rejects(fetch(start), /answered with a redirect \(307\), which is not followed/);
      assert.match((await run(start)) ?? "fetched", REFUSED);
    }
    assert.equal(touched, 0);
  });

  it("comes back to the browser, whose next request the proxy refuses", async () => {
    const { start, rule } = open();
    const proxy = keep(await startForwardProxy({ rule }));
    for (redirectTo of places()) {
      const get = (url: string) =>
        askProxy(proxy.port, `GET ${url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      assert.match(await get(start), /^HTTP\/1\.1 307/);
      assert.match(await get(redirectTo), /^HTTP\/1\.1 403/);
    }
    assert.equal(touched, 0);
  });
});

describe("a name that changes its answer", () => {
  /** Public to whoever checks, and this machine to whoever connects. */
  const flipping = () => {
    let asked = 0;
    return makeRule([], async () => [{ address: asked++ === 0 ? "93.184.215.14" : "127.0.0.1", family: 4 }]);
  };
  const url = () => `http://rebind.example:${port}/`;

  it("passes the creation and is refused at the attempt", async () => {
    const rule = flipping();
    assert.equal(await refuseCreation(rule, { callback: { url: url() } }), undefined);
    const { error } = await sendCallback(keep(createGuardedFetch(rule)), callback(url()), attempt);
    assert.match(error ?? "delivered", /resolves to a loopback address/);
    assert.equal(touched, 0);
  });

  it("is refused to the browser after the check of the navigation", async () => {
    const rule = flipping();
    const egress = createBrowserEgress(rule, undefined, { debug() {}, info() {}, warn() {}, error() {} });
    assert.equal(await egress.refuse(new URL(url())), undefined);
    const proxy = keep(await startForwardProxy({ rule }));
    const asked = await askProxy(proxy.port, `GET ${url()} HTTP/1.1\r\nHost: x\r\n\r\n`);
    assert.match(asked, /^HTTP\/1\.1 403/);
    assert.equal(touched, 0);
  });
});
