import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import net, { type AddressInfo } from "node:net";
import { hostname } from "node:os";
import { after, before, beforeEach, describe, it } from "node:test";
import { sql } from "drizzle-orm";
import { sessions } from "#db/schema/index.ts";
import { openTestDatabase, type TestDatabase } from "#db/testing.ts";
import { createSessionSchema } from "#lib/api/contract/schemas/create-session.ts";
import { type CreationServices, createSession } from "#lib/api/handlers/creation-handlers.ts";
import { createBrowserEgress } from "#lib/browser/process/browser-egress.ts";
import { sendCallback } from "#lib/callback/send-callback.ts";
import { type AddressRule, createAddressRule, type Lookup } from "#lib/net/address/address-rule.ts";
import { createGuardedFetch } from "#lib/net/fetch/guarded-fetch.ts";
import { createGuardedPost } from "#lib/net/fetch/guarded-post.ts";
import { createGuardedWebFetch } from "#lib/net/fetch/guarded-web-fetch.ts";
import { hostileHosts, hostileLookup, hostilePlaces } from "#lib/net/hostile-urls-testing.ts";
import { startForwardProxy } from "#lib/net/proxy/forward-proxy.ts";
import { createSealer } from "#lib/secrets/sealer.ts";
import { silentSecurityLog } from "#lib/security-log/testing.ts";
import { silentJobs } from "#lib/session/jobs/testing.ts";
import { createFreshRuns } from "#lib/session/run/fresh-runs.ts";
import { createShareLinks } from "#lib/session/share/share-link.ts";
import type { ToolCall } from "#lib/tools/tool.ts";
import { fetchUrl } from "#lib/tools/workspace/fetch/fetch-url.ts";
import type { WorkspaceServices } from "#lib/tools/workspace/services.ts";

// Covers every way in which a URL from outside makes the service send a request. Hostile URLs resolve to private
// addresses of this machine, where the canary server counts the connections.

let canary: Server;
let redirector: Server;
let database: TestDatabase;
/** Number of connections that the canary has received in this test. */
let connections = 0;
let port = 0;
let redirectTo = "";
const closing: { close: () => unknown }[] = [];

before(async () => {
  database = await openTestDatabase();
  canary = await listen(createServer((_request, response) => response.end("canary")));
  canary.on("connection", () => {
    connections += 1;
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
  connections = 0;
});

async function listen(server: Server): Promise<Server> {
  // Without a host, `listen` uses all addresses of the machine, including IPv6 addresses.
  await new Promise<void>((done) => server.listen(0, done));
  closing.push(server);
  return server;
}
const portOf = (server: Server) => (server.address() as AddressInfo).port;

/** Returns every hostile URL. URLs that point to this machine have the port of the canary. */
const urls = () => [
  ...hostileHosts.flatMap((host) => [`http://${host}:${port}/`, `https://${host}:${port}/`]),
  `http://${hostname()}:${port}/`,
  `http://localhost:${port}/@public.example`,
  ...hostilePlaces.map((place) =>
    place.replace(/(127\.0\.0\.1|localhost|LOCALHOST)(?=[/\\#?]|$)/, `$1:${port}`),
  ),
];

/** Resolves a hostile name to the addresses in the table of hostile names, and every other name to this machine. */
const lookup: Lookup = async (name) => {
  const addresses = await hostileLookup(name);
  return addresses.length > 0 ? addresses : [{ address: "127.0.0.1", family: 4 }];
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
  skills: { store: async () => [] },
  quota: { admit: async () => ({ ok: true, end() {} }), forget() {} },
  settings: {
    delegation: { maxLiveChildren: 4, maxLiveBrowsers: 4 },
    model: { id: "scripted", label: "scripted", isDemo: false, isPriced: false },
  },
  sealer: createSealer(new Uint8Array(32)),
  shares: createShareLinks(database.db, new Uint8Array(32)),
  jobs: silentJobs,
  freshRuns: createFreshRuns(),
  schemas: { admitSchema: async () => ({ ok: true }) },
  callbackRules: { secretLengthMin: 0, refuseHttp: () => undefined },
  readSubAgentFlag: async () => false,
  securityLog: silentSecurityLog,
});

/** Tries to create a session with these fields. @returns the error, or undefined if the session was created. */
async function refuseCreation(
  rule: AddressRule,
  fields: Record<string, unknown>,
): Promise<string | undefined> {
  const body = { messages: [{ role: "user", parts: [{ type: "text", text: "Hello" }] }], ...fields };
  const parsed = createSessionSchema.safeParse(body);
  if (!parsed.success) return `${parsed.error.issues[0]?.path.join(".")}: ${parsed.error.issues[0]?.message}`;
  const caller = { keyId: "key", ownerId: "owner", scopes: [] };
  const answer = await createSession(creationWith(rule), { body: parsed.data, hashBody: () => "", caller });
  if (answer instanceof Response || answer.ok) return undefined;
  assert.equal(answer.code, "invalid_request");
  return answer.error;
}

const countSessions = async () =>
  (await database.db.select({ count: sql<number>`count(*)::int` }).from(sessions))[0]?.count;

/** Sends exactly this text to a forward proxy. @returns the first line of the proxy's answer. */
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
    if (!input.success) return "invalid input";
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
/** Matches errors of the network guard, but no errors of the network or of a server. */
const REFUSED =
  /NETWORK_ALLOW|not a permitted scheme|not an http\(s\) scheme|must not carry credentials|is not valid|is not an IP address/;

describe(`hostile URLs (${hostileHosts.length * 2 + hostilePlaces.length + 2})`, () => {
  it("would reach the canary without the guard", async () => {
    const fetch = keep(createGuardedFetch(makeRule(["127.0.0.1"])));
    assert.equal((await fetch(`http://127.0.0.1:${port}/`)).status, 200);
    assert.equal(connections, 1);
  });

  it("are refused as callback.url with a sentence that names the field, and create no session", async () => {
    const rule = makeRule();
    const before = await countSessions();
    for (const url of urls())
      assert.match(
        (await refuseCreation(rule, { callback: { url } })) ?? "accepted",
        /^callback\.url: /,
        url,
      );
    assert.deepEqual([await countSessions(), connections], [before, 0]);
  });

  it("get no callback, even if a stored delivery has one", async () => {
    const post = keep(createGuardedPost(makeRule()));
    for (const url of urls()) {
      const { status, error } = await sendCallback(post, callback(url), attempt);
      assert.equal(status, null, url);
      assert.match(error ?? "delivered", REFUSED, url);
    }
    assert.equal(connections, 0);
  });

  it("are not contacted as tool servers; those without https are refused at creation", async () => {
    const rule = makeRule();
    for (const url of urls()) {
      if (/^https:\/\/[^@]*$/i.test(url)) continue;
      const refusal = await refuseCreation(rule, { mcpServers: { crm: { url } } });
      assert.match(refusal ?? "accepted", /^mcpServers\.crm\.url: /, url);
    }
    const fetch = keep(createGuardedWebFetch(rule, { protocols: ["https:", "http:"], timeoutMs: 2_000 }));
    for (const url of urls())
      await assert.rejects(fetch(url), (error: Error) => !/time|connection/.test(error.message), url);
    assert.equal(connections, 0);
  });

  it("are not fetched by fetch_url", async () => {
    const run = fetchTool(makeRule());
    for (const url of urls())
      assert.match((await run(url)) ?? "fetched", /could not be fetched|invalid input/, url);
    assert.equal(connections, 0);
  });

  it("are refused by the browser's proxy in both forms, and by the check before a navigation", async () => {
    const rule = makeRule();
    const proxy = keep(await startForwardProxy({ rule }));
    const egress = createBrowserEgress(rule, undefined, { debug() {}, info() {}, warn() {}, error() {} });
    for (const text of urls()) {
      const url = URL.parse(text);
      // Sends the URL in its original form and in its normalized form. An empty answer is allowed too, because the
      // proxy closes the connection if a request is invalid HTTP.
      for (const form of new Set([text.replace(/[^\x21-\uffff]/g, ""), url?.href ?? ""])) {
        const answer = await askProxy(proxy.port, `GET ${form} HTTP/1.1\r\nHost: public.example\r\n\r\n`);
        assert.match(answer, /^HTTP\/1\.1 (400|403)|^$/, form);
      }
      if (!url?.host) continue;
      const authority = `${url.hostname}:${url.port || 443}`;
      const tunnel = await askProxy(proxy.port, `CONNECT ${authority} HTTP/1.1\r\nHost: x\r\n\r\n`);
      assert.match(tunnel, /^HTTP\/1\.1 (400|403)/, text);
      assert.ok(await egress.refuse(url), text);
    }
    assert.equal(connections, 0);
  });
});

describe("a redirect to a private address", () => {
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
    const post = keep(createGuardedPost(rule));
    for (redirectTo of places()) {
      const { status, error } = await sendCallback(post, callback(start), attempt);
      assert.equal(status, 307);
      assert.match(error ?? "", /answered with a redirect \(307\), which is not followed/);
    }
    assert.equal(connections, 0);
  });

  it("is not followed by a tool server's connection, and is refused by fetch_url", async () => {
    const { start, rule } = open();
    const fetch = keep(createGuardedWebFetch(rule, { protocols: ["https:", "http:"], timeoutMs: 2_000 }));
    const run = fetchTool(rule);
    for (redirectTo of places()) {
      await assert.rejects(fetch(start), /answered with a redirect \(307\), which is not followed/);
      assert.match((await run(start)) ?? "fetched", REFUSED);
    }
    assert.equal(connections, 0);
  });

  it("is passed to the browser, whose next request the proxy refuses", async () => {
    const { start, rule } = open();
    const proxy = keep(await startForwardProxy({ rule }));
    for (redirectTo of places()) {
      const get = (url: string) =>
        askProxy(proxy.port, `GET ${url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      assert.match(await get(start), /^HTTP\/1\.1 307/);
      assert.match(await get(redirectTo), /^HTTP\/1\.1 403/);
    }
    assert.equal(connections, 0);
  });
});

describe("a host name that changes its address", () => {
  /** Creates a rule whose lookup returns a public address the first time, and this machine's address after that. */
  const flipping = () => {
    let lookups = 0;
    return makeRule([], async () => [
      { address: lookups++ === 0 ? "93.184.215.14" : "127.0.0.1", family: 4 },
    ]);
  };
  const url = () => `http://rebind.example:${port}/`;

  it("is accepted at creation and refused at the attempt", async () => {
    const rule = flipping();
    assert.equal(await refuseCreation(rule, { callback: { url: url() } }), undefined);
    const { error } = await sendCallback(keep(createGuardedPost(rule)), callback(url()), attempt);
    assert.match(error ?? "delivered", /resolves to a loopback address/);
    assert.equal(connections, 0);
  });

  it("is refused by the browser's proxy after the check of the navigation", async () => {
    const rule = flipping();
    const egress = createBrowserEgress(rule, undefined, { debug() {}, info() {}, warn() {}, error() {} });
    assert.equal(await egress.refuse(new URL(url())), undefined);
    const proxy = keep(await startForwardProxy({ rule }));
    const answer = await askProxy(proxy.port, `GET ${url()} HTTP/1.1\r\nHost: x\r\n\r\n`);
    assert.match(answer, /^HTTP\/1\.1 403/);
    assert.equal(connections, 0);
  });
});
