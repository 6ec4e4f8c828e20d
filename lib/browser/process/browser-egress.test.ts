import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { request } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { createAddressRule } from "#lib/net/address/address-rule.ts";
import type { NetworkRefusal } from "#lib/security-log/security-events.ts";
import { openBrowser } from "../page/open-browser.ts";
import {
  findBrowserProcesses,
  findTestChromium,
  insertTestSession,
  listListeners,
  openTestBrowsers,
  startTestSite,
  type TestBrowsers,
} from "../testing.ts";
import { createBrowserEgress } from "./browser-egress.ts";
import { createLocalProvider } from "./local-provider.ts";
import { PAGE_LIMITS } from "./page-limits.ts";

let site: Awaited<ReturnType<typeof startTestSite>>;
let own: Awaited<ReturnType<typeof startTestSite>>;
let harness: TestBrowsers;
let sessionId: string;
const requested: string[] = [];
const quiet = { info() {}, debug() {}, warn() {}, error() {} };

before(async () => {
  site = await startTestSite((_, response) => {
    response
      .writeHead(200, { "content-type": "text/html", "access-control-allow-origin": "*" })
      .end("<p>site</p>");
  });
  own = await startTestSite((request, response) => {
    requested.push(request.url ?? "");
    response
      .writeHead(200, { "content-type": "text/html", "access-control-allow-origin": "*" })
      .end("<p>own</p>");
  });
  harness = await openTestBrowsers(["127.0.0.1", "localhost", "::1"], { ownOrigin: { origin: own.origin } });
  sessionId = await insertTestSession(harness.db);
  await harness.browsers.navigate(sessionId, site.origin);
});
after(async () => {
  await harness.close();
  await site.close();
  await own.close();
});

test("DevTools cannot be reached from anywhere on this machine: the browser listens on no port", async () => {
  const live = await harness.browsers.ensure(sessionId);
  const listening = await listListeners(await findBrowserProcesses(harness.dataDir));
  assert.deepEqual(listening, []);
  // 9222 is the usual port of DevTools. On `chrome://inspect`, Chromium lists its own DevTools targets.
  for (const url of ["http://127.0.0.1:9222/json/version", "http://localhost:9222/json/version"]) {
    assert.equal((await harness.browsers.navigate(sessionId, url)).landed, false, url);
    await assert.rejects(fetch(url));
  }
  assert.equal((await harness.browsers.navigate(sessionId, "chrome://inspect")).landed, false);
  const socket = await live.page().evaluate(
    () =>
      new Promise((resolve) => {
        const attempt = new WebSocket("ws://127.0.0.1:9222/devtools/browser");
        attempt.onopen = () => resolve(true);
        attempt.onerror = () => resolve(false);
      }),
  );
  assert.equal(socket, false);
});

test("pages reach only /demo and published paths of our own origin", async () => {
  for (const path of ["/demo", "/demo/style.css", "/p/launch"]) {
    const outcome = await harness.browsers.navigate(sessionId, own.origin + path);
    assert.equal(outcome.landed, true, path);
  }
  requested.length = 0;
  for (const path of ["/", "/api/sessions", "/demo/../api/sessions", "/demonstration", "/p"]) {
    const outcome = await harness.browsers.navigate(sessionId, own.origin + path);
    assert.equal(outcome.landed, false, path);
  }
  const live = await harness.browsers.ensure(sessionId);
  await live.page().evaluate(async (origin) => {
    await fetch(`${origin}/api/sessions`).catch(() => {});
    await fetch(`${origin.replace("127.0.0.1", "localhost")}/api/sessions`).catch(() => {});
  }, own.origin);
  assert.deepEqual(requested, []);
});

test("a page's own requests to private addresses do not leave the machine", async () => {
  const live = await harness.browsers.ensure(sessionId);
  await harness.browsers.navigate(sessionId, site.origin);
  const reached = await live.page().evaluate(async () => {
    const response = await fetch("http://169.254.169.254/latest/meta-data", { mode: "cors" }).catch(
      () => undefined,
    );
    return response?.ok ?? false;
  });
  assert.equal(reached, false);
});

test("WebRTC sends nothing past the proxy", async () => {
  const received: string[] = [];
  const stun = createSocket("udp4", (message) => received.push(message.toString("hex")));
  await new Promise<void>((resolve) => stun.bind(0, "127.0.0.1", resolve));
  try {
    const live = await harness.browsers.ensure(sessionId);
    await harness.browsers.navigate(sessionId, site.origin);
    const candidates = await live.page().evaluate(async (port) => {
      const connection = new RTCPeerConnection({ iceServers: [{ urls: `stun:127.0.0.1:${port}` }] });
      const found: string[] = [];
      connection.onicecandidate = ({ candidate }) => candidate && found.push(candidate.candidate);
      connection.createDataChannel("data");
      const gathered = new Promise<void>((resolve) => {
        connection.onicegatheringstatechange = () => connection.iceGatheringState === "complete" && resolve();
      });
      await connection.setLocalDescription();
      await gathered;
      connection.close();
      return found.filter((candidate) => / udp /i.test(candidate));
    }, stun.address().port);
    assert.deepEqual([candidates, received], [[], []]);
  } finally {
    stun.close();
  }
});

test("permissions are refused without a prompt", async () => {
  const live = await harness.browsers.ensure(sessionId);
  await harness.browsers.navigate(sessionId, site.origin);
  const state = await live.page().evaluate(async () => {
    const answers = await Promise.all(
      (["geolocation", "notifications", "camera"] as PermissionName[]).map((name) =>
        navigator.permissions.query({ name }),
      ),
    );
    return answers.map((answer) => answer.state);
  });
  assert.deepEqual(state, ["denied", "denied", "denied"]);
});

test("refusals are reported with their source and session; an unreachable server is not a refusal", async () => {
  const refusals: NetworkRefusal[] = [];
  const egress = createBrowserEgress(
    createAddressRule({ allow: ["127.0.0.1"] }),
    undefined,
    quiet,
    (refusal) => refusals.push(refusal),
  );
  const proxy = await egress.startProxy({ acceptsKey: true });
  const { port } = new URL(proxy.server);
  const ask = (url: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const outgoing = request({ host: "127.0.0.1", port, path: url }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      outgoing.on("error", reject).end();
    });
  try {
    assert.ok(await egress.refuse(new URL("http://10.1.2.3/x?token=canary"), "ses_a"));
    assert.equal(await egress.refuse(new URL(site.origin), "ses_a"), undefined);
    assert.equal(await ask("http://10.1.2.3:81/x?token=canary"), 403);
    proxy.nameSession("ses_b");
    assert.equal(await ask("http://10.1.2.4/"), 403);
    assert.equal(await ask(`http://127.0.0.1:${port}/`), 403);
    const away = await startTestSite((_, response) => response.end());
    await away.close();
    assert.equal(await ask(`${away.origin}/`), 502);
  } finally {
    await proxy.close();
  }
  assert.deepEqual(
    refusals.map(({ source, sessionId: of, host }) => [source, of, host]),
    [
      ["navigation", "ses_a", "10.1.2.3"],
      ["proxy", undefined, "10.1.2.3:81"],
      ["proxy", "ses_b", "10.1.2.4"],
      ["proxy", "ses_b", `127.0.0.1:${port}`],
    ],
  );
  assert.doesNotMatch(JSON.stringify(refusals), /canary/);
});

test("a remote browser without our proxy requests no document that the rule refuses, redirects included", async () => {
  const seen: string[] = [];
  const target = await startTestSite((request, response) => {
    seen.push(request.url ?? "");
    if (request.url === "/redirect") response.writeHead(302, { location: "/refused" }).end();
    else response.writeHead(200, { "content-type": "text/html" }).end("<p>a page</p>");
  });
  const egress = createBrowserEgress(createAddressRule({ allow: ["127.0.0.1"] }), undefined, quiet);
  const folder = join(harness.dataDir, "browsers");
  const local = createLocalProvider({
    launch: findTestChromium(),
    folder,
    egress,
    limits: PAGE_LIMITS,
    webdriver: true,
    logger: quiet,
  });
  const use = { owner: undefined, sessions: 0 };
  const startUnguarded = async () => ({ ...(await local.start(use)), isGuarded: false });
  const refuse = async (url: URL) => (url.pathname === "/refused" ? "refused by the rule" : undefined);
  const open = await openBrowser(
    startUnguarded,
    { ...egress, refuse },
    { logger: quiet, navigationTimeoutMs: 5_000 },
  );
  try {
    const { navigate } = open.selected();
    assert.equal((await navigate(`${target.origin}/page`)).landed, true);
    const refused = { landed: false, reason: "refused by the rule" };
    assert.deepEqual(await navigate(`${target.origin}/refused`), refused);
    assert.deepEqual(await navigate(`${target.origin}/redirect`), refused);
    assert.equal(open.selected().page.url(), `${target.origin}/page`);
    assert.deepEqual(
      seen.filter((path) => path !== "/favicon.ico"),
      ["/page", "/redirect"],
    );
  } finally {
    await open.close();
    await target.close();
  }
});
