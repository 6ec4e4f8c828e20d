import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eq } from "drizzle-orm";
import { sessions } from "#db/schema/index.ts";
import { createAddressRule } from "#lib/net/address/address-rule.ts";
import type { BrowserRecord } from "../browser-service.ts";
import {
  insertTestSession,
  openTestBrowsers,
  startTestSite,
  type TestBrowsers,
  waitFor,
} from "../testing.ts";

let site: Awaited<ReturnType<typeof startTestSite>>;
let harness: TestBrowsers;
/** A service with a short navigation timeout. Its lookup of `late.example` waits until the test sets an address. */
let impatientHarness: TestBrowsers;
const lateName = { requested: Promise.withResolvers<void>(), address: Promise.withResolvers<string>() };
let sessionId: string;
let closedPort: number;

before(async () => {
  site = await startTestSite((request, response) => {
    const path = request.url ?? "/";
    if (path === "/moved") return response.writeHead(302, { location: "/page?from=moved" }).end();
    if (path === "/to-private") return response.writeHead(302, { location: "http://10.1.2.3/secret" }).end();
    if (path === "/to-private-tls")
      return response.writeHead(302, { location: "https://10.1.2.3/secret" }).end();
    if (path === "/file")
      return response.writeHead(200, { "content-disposition": "attachment" }).end("bytes");
    if (path === "/empty") return response.writeHead(204).end();
    if (path === "/silent") return;
    const status = path === "/missing" ? 404 : 200;
    const script = path === "/script-moved" ? "<script>location.replace('/page?from=script')</script>" : "";
    const alert = path === "/alert" ? "<script>alert('hello')</script>" : "";
    response.writeHead(status, { "content-type": "text/html" });
    response.end(`<title>${path}</title>${script}${alert}<input id=field><a href="/other">other</a>`);
  });
  const gone = await startTestSite(() => {});
  closedPort = gone.port;
  await gone.close();
  harness = await openTestBrowsers([`127.0.0.1:${site.port}`, `127.0.0.1:${closedPort}`]);
  const rule = createAddressRule({
    allow: [`127.0.0.1:${site.port}`, `localhost:${site.port}`],
    async lookup(name) {
      if (name === "localhost") return [{ address: "127.0.0.1", family: 4 }];
      lateName.requested.resolve();
      return [{ address: await lateName.address.promise, family: 4 }];
    },
  });
  impatientHarness = await openTestBrowsers([], { rule, navigationTimeoutMs: 1_500 }, harness.db);
  sessionId = await insertTestSession(harness.db);
});
after(async () => {
  await impatientHarness.close();
  await harness.close();
  await site.close();
});

/** Retargets, and polls the status as clients do until the navigation has landed or was refused. */
async function retargetAndPoll(
  url: string,
  browsers = harness.browsers,
  id = sessionId,
): Promise<BrowserRecord> {
  await browsers.retarget(id, url);
  return waitFor(async () => {
    const record = await browsers.readStatus(id);
    return (record.lastNavigatedUrl === url || record.lastError !== null) && record;
  }, `${url} to land or be refused`);
}
const path = (record: BrowserRecord) => record.currentUrl?.replace(site.origin, "");

test("a session without a browser is idle and names the page it was created with", async () => {
  const other = await insertTestSession(harness.db, { targetUrl: "https://example.com/a" });
  assert.deepEqual(await harness.browsers.readStatus(other), {
    status: "idle",
    sessionId: other,
    liveViewUrl: null,
    desiredUrl: "https://example.com/a",
    lastNavigatedUrl: null,
    currentUrl: null,
    lastError: null,
  });
});

test("a retarget of a session with no browser provisions one that comes up on the requested URL", async () => {
  const url = `${site.origin}/page`;
  assert.deepEqual(await retargetAndPoll(url), {
    status: "ready",
    sessionId,
    liveViewUrl: `/s/${sessionId}/live`,
    desiredUrl: url,
    lastNavigatedUrl: url,
    currentUrl: url,
    lastError: null,
  });
});

test("the requested URL joins the session's known target pages, once", async () => {
  await retargetAndPoll(`${site.origin}/page`);
  const [row] = await harness.db.select().from(sessions).where(eq(sessions.id, sessionId));
  assert.deepEqual(row?.targetPageUrls, [`${site.origin}/page`]);
});

for (const [kind, from] of [
  ["a redirect of the server", "/moved"],
  ["a redirect by the page's own script", "/script-moved"],
] as const) {
  test(`after ${kind}, lastNavigatedUrl is the requested URL and currentUrl the address shown`, async () => {
    await retargetAndPoll(`${site.origin}${from}`);
    const record = await waitFor(async () => {
      const now = await harness.browsers.readStatus(sessionId);
      return now.currentUrl?.includes("?from=") && now;
    }, "the redirect");
    assert.equal(record.lastNavigatedUrl, `${site.origin}${from}`);
  });
}

test("a URL is compared byte for byte, however the browser would spell it", async () => {
  const url = `HTTP://127.0.0.1:${site.port}/a b/../page?x=ä`;
  const record = await retargetAndPoll(url);
  assert.equal(record.lastError, null);
  assert.equal(path(record), "/page?x=%C3%A4");
});

test("retargets to the page already shown, and to a fragment of it, land", async () => {
  for (const url of [`${site.origin}/page`, `${site.origin}/page`, `${site.origin}/page#below`]) {
    assert.equal((await retargetAndPoll(url)).lastError, null);
  }
});

test("an HTTP error is a page that was reached", async () => {
  assert.equal(path(await retargetAndPoll(`${site.origin}/missing`)), "/missing");
});

test("a page that opens a dialog lands; the dialog is dismissed", async () => {
  assert.equal((await retargetAndPoll(`${site.origin}/alert`)).lastError, null);
  await waitFor(async () => {
    const events = await harness.log.read(sessionId, { after: 0, limit: 1_000 });
    return events.some(({ kind }) => kind === "browser.dialog");
  }, "the event of the dialog");
});

const REFUSALS: [string, () => string, RegExp][] = [
  ["a private address", () => "http://10.1.2.3/", /10\.1\.2\.3 is a private address; .*NETWORK_ALLOW/],
  [
    "a redirect to a private address",
    () => `${site.origin}/to-private`,
    /10\.1\.2\.3 is a private.*NETWORK_ALLOW/,
  ],
  ["a TLS redirect to a private address", () => `${site.origin}/to-private-tls`, /10\.1\.2\.3 is a private/],
  ["a scheme other than http(s)", () => "file:///etc/passwd", /file is not an http\(s\) scheme/],
  [
    "a name that does not exist",
    () => "http://no-such-host.invalid/",
    /no-such-host\.invalid could not be resolved/,
  ],
  [
    "a server that is not there",
    () => `http://127.0.0.1:${closedPort}/`,
    /127\.0\.0\.1:\d+ refused the connection/,
  ],
  ["a server without TLS", () => `https://127.0.0.1:${site.port}/`, /no secure connection to 127\.0\.0\.1/],
  ["a download", () => `${site.origin}/file`, /is a download, not a page/],
  ["an answer without a page", () => `${site.origin}/empty`, /answered 204/],
];

for (const [what, url, reason] of REFUSALS) {
  test(`${what} is refused with a reason, and the page stays unchanged`, () =>
    expectRefusal(harness, sessionId, url(), reason));
}

test("a server that does not answer is refused with a reason, and the page stays unchanged", async () => {
  const id = await insertTestSession(impatientHarness.db);
  await expectRefusal(impatientHarness, id, `${site.origin}/silent`, /did not answer in 1\.5 s/);
});

async function expectRefusal({ browsers }: TestBrowsers, id: string, url: string, reason: RegExp) {
  const here = `${site.origin}/page?before`;
  // Navigates without a retarget, so that the only retarget of this check is the one to `url`.
  assert.deepEqual(await browsers.navigate(id, here), { landed: true, url: here });
  const live = await browsers.ensure(id);
  await live.page().fill("#field", "typed before");
  const record = await retargetAndPoll(url, browsers, id);
  assert.match(record.lastError ?? "", reason);
  assert.equal(record.status, "ready");
  assert.equal(record.desiredUrl, url);
  assert.equal(record.lastNavigatedUrl, here);
  assert.equal(record.currentUrl, here);
  assert.equal(await live.page().inputValue("#field"), "typed before");
}

test("lastError clears as soon as the browser reaches a page", async () => {
  await retargetAndPoll("http://10.1.2.3/");
  const live = await harness.browsers.ensure(sessionId);
  await live.page().click("a");
  const record = await waitFor(async () => {
    const now = await harness.browsers.readStatus(sessionId);
    return now.lastError === null && now;
  }, "the error to clear");
  assert.equal(record.lastNavigatedUrl, `${site.origin}/other`);
});

test("the outcome of an older retarget does not overwrite a newer one's", async () => {
  await harness.browsers.retarget(sessionId, `${site.origin}/silent`);
  const record = await retargetAndPoll(`${site.origin}/page?newer`);
  assert.equal(record.lastError, null);
  assert.equal(path(record), "/page?newer");
});

test("a navigation to a host that resolves late does not override a newer one", async () => {
  const { browsers, db } = impatientHarness;
  const id = await insertTestSession(db);
  const older = browsers.navigate(id, `http://late.example:${site.port}/older`);
  await lateName.requested.promise;
  const newer = `${site.origin}/page?newer`;
  await retargetAndPoll(newer, browsers, id);
  lateName.address.resolve("127.0.0.1");
  assert.deepEqual(await older, { landed: false, reason: "the navigation was interrupted" });
  assert.equal((await browsers.readStatus(id)).currentUrl, newer);
});

test("a browser that starts opens the page of the last retarget", async () => {
  const cold = await insertTestSession(harness.db);
  const urls = Array.from({ length: 6 }, (_, index) => `${site.origin}/cold${index}`);
  for (const url of urls) {
    await harness.browsers.retarget(cold, url);
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
  const last = urls.at(-1);
  const isThere = async () => (await harness.browsers.readStatus(cold)).currentUrl === last;
  await waitFor(isThere, "the last page");
  const record = await harness.browsers.readStatus(cold);
  assert.deepEqual([record.desiredUrl, record.lastNavigatedUrl, record.lastError], [last, last, null]);
  await harness.browsers.closeSession(cold);
});

test("a navigation by a tool returns the address reached, or why it failed", async () => {
  assert.deepEqual(await harness.browsers.navigate(sessionId, `${site.origin}/moved`), {
    landed: true,
    url: `${site.origin}/page?from=moved`,
  });
  const record = await harness.browsers.readStatus(sessionId);
  assert.equal(record.lastNavigatedUrl, `${site.origin}/page?from=moved`);
  const outcome = await harness.browsers.navigate(sessionId, "http://169.254.169.254/latest");
  assert.match(outcome.landed ? "" : outcome.reason, /metadata address/);
});

test("an endlessly busy page can be left, within its site and to another site", async () => {
  const { browsers, db } = impatientHarness;
  const id = await insertTestSession(db);
  const here = `${site.origin}/page`;
  await browsers.navigate(id, here);
  const keepBusy = async () =>
    (await browsers.ensure(id)).page().evaluate("void setTimeout(() => { for (;;); })");
  await keepBusy();
  const other = `${site.origin}/other`;
  const record = await retargetAndPoll(other, browsers, id);
  assert.deepEqual([record.lastError, record.lastNavigatedUrl, record.currentUrl], [null, other, other]);
  await keepBusy();
  const elsewhere = `http://localhost:${site.port}/page`;
  assert.deepEqual(await browsers.navigate(id, elsewhere), { landed: true, url: elsewhere });
  assert.equal((await browsers.readStatus(id)).lastError, null);
  await browsers.closeSession(id);
});

test("a stopped navigation leaves the page", async () => {
  const outcome = await harness.browsers.navigate(
    sessionId,
    `${site.origin}/silent`,
    AbortSignal.timeout(100),
  );
  assert.deepEqual(outcome, { landed: false, reason: "the navigation was stopped" });
});

test("back and forward go through the page's history", async () => {
  await harness.browsers.navigate(sessionId, `${site.origin}/one`);
  await harness.browsers.navigate(sessionId, `${site.origin}/two`);
  for (const [action, expected] of [
    ["back", "/one"],
    ["forward", "/two"],
  ] as const) {
    await harness.browsers.history(sessionId, action);
    await waitFor(async () => path(await harness.browsers.readStatus(sessionId)) === expected, expected);
  }
});

test("a popup is the page shown, until it closes", async () => {
  await harness.browsers.navigate(sessionId, `${site.origin}/page`);
  const live = await harness.browsers.ensure(sessionId);
  await live.page().evaluate(() => void window.open("/popup"));
  await waitFor(async () => path(await harness.browsers.readStatus(sessionId)) === "/popup", "the popup");
  assert.equal(live.page().url(), `${site.origin}/popup`);
  await live.page().evaluate(() => void setTimeout(() => window.close()));
  await waitFor(async () => path(await harness.browsers.readStatus(sessionId)) === "/page", "the first page");
  assert.equal(live.page().url(), `${site.origin}/page`);
});

test("every change is an event of the session's log, numbered without gaps", async () => {
  const events = await harness.log.read(sessionId, { after: 0, limit: 1000 });
  const kinds = new Set(events.map(({ kind }) => kind));
  assert.deepEqual([...kinds], ["browser.status", "browser.dialog", "browser.download"]);
  assert.deepEqual(
    events.map(({ seq }) => seq),
    events.map((_, index) => index + 1),
  );
  const changes = events.filter(({ kind }) => kind === "browser.status");
  const statuses = changes.map(({ body }) => (JSON.parse(body) as BrowserRecord).status);
  assert.deepEqual([...new Set(statuses)], ["idle", "creating", "ready"]);
});

test("a session without the browser capability gets no browser", async () => {
  const without = await insertTestSession(harness.db, { capabilities: { browser: false, sandbox: true } });
  await assert.rejects(harness.browsers.ensure(without), /capabilities\.browser is false/);
});
