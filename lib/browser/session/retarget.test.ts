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
let house: TestBrowsers;
/** Where a page has little time to answer, and `late.example` has no address until it is given one. */
let hastyHouse: TestBrowsers;
const lateName = { asked: Promise.withResolvers<void>(), address: Promise.withResolvers<string>() };
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
  house = await openTestBrowsers([`127.0.0.1:${site.port}`, `127.0.0.1:${closedPort}`]);
  const rule = createAddressRule({
    allow: [`127.0.0.1:${site.port}`, `localhost:${site.port}`],
    async lookup(name) {
      if (name === "localhost") return [{ address: "127.0.0.1", family: 4 }];
      lateName.asked.resolve();
      return [{ address: await lateName.address.promise, family: 4 }];
    },
  });
  hastyHouse = await openTestBrowsers([], { rule, navigationTimeoutMs: 1_500 }, house.db);
  sessionId = await insertTestSession(house.db);
});
after(async () => {
  await hastyHouse.close();
  await house.close();
  await site.close();
});

/** Does what a client does: asks until the navigation has landed or was refused. */
async function retargetAndPoll(
  url: string,
  browsers = house.browsers,
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
  const other = await insertTestSession(house.db, { targetUrl: "https://example.com/a" });
  assert.deepEqual(await house.browsers.readStatus(other), {
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
  const [row] = await house.db.select().from(sessions).where(eq(sessions.id, sessionId));
  assert.deepEqual(row?.targetPageUrls, [`${site.origin}/page`]);
});

for (const [kind, from] of [
  ["a redirect of the server", "/moved"],
  ["a redirect by the page's own script", "/script-moved"],
] as const) {
  test(`after ${kind} lastNavigatedUrl is the URL as requested and currentUrl the address shown`, async () => {
    await retargetAndPoll(`${site.origin}${from}`);
    const record = await waitFor(async () => {
      const now = await house.browsers.readStatus(sessionId);
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

test("the page that is shown already, and a place within it, land too", async () => {
  for (const url of [`${site.origin}/page`, `${site.origin}/page`, `${site.origin}/page#below`]) {
    assert.equal((await retargetAndPoll(url)).lastError, null);
  }
});

test("an HTTP error is a page that was reached", async () => {
  assert.equal(path(await retargetAndPoll(`${site.origin}/missing`)), "/missing");
});

test("a page that opens a dialog lands; the dialog is dismissed", async () => {
  assert.equal((await retargetAndPoll(`${site.origin}/alert`)).lastError, null);
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
  test(`${what} is refused, says why, and leaves the page as it was`, () =>
    expectRefusal(house, sessionId, url(), reason));
}

test("a server that does not answer is refused, says why, and leaves the page as it was", async () => {
  const id = await insertTestSession(hastyHouse.db);
  await expectRefusal(hastyHouse, id, `${site.origin}/silent`, /did not answer in 1\.5 s/);
});

async function expectRefusal({ browsers }: TestBrowsers, id: string, url: string, reason: RegExp) {
  const here = `${site.origin}/page?before`;
  // Not by a retarget: whoever polls for the page that is shown already does not see it come anew.
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
  const live = await house.browsers.ensure(sessionId);
  await live.page().click("a");
  const record = await waitFor(async () => {
    const now = await house.browsers.readStatus(sessionId);
    return now.lastError === null && now;
  }, "the error to clear");
  assert.equal(record.lastNavigatedUrl, `${site.origin}/other`);
});

test("the outcome of an older retarget does not overwrite a newer one's", async () => {
  await house.browsers.retarget(sessionId, `${site.origin}/silent`);
  const record = await retargetAndPoll(`${site.origin}/page?newer`);
  assert.equal(record.lastError, null);
  assert.equal(path(record), "/page?newer");
});

test("a navigation to a name that is resolved late does not overtake a newer one", async () => {
  const { browsers, db } = hastyHouse;
  const id = await insertTestSession(db);
  const older = browsers.navigate(id, `http://late.example:${site.port}/older`);
  await lateName.asked.promise;
  const newer = `${site.origin}/page?newer`;
  await retargetAndPoll(newer, browsers, id);
  lateName.address.resolve("127.0.0.1");
  assert.deepEqual(await older, { landed: false, reason: "the navigation was interrupted" });
  assert.equal((await browsers.readStatus(id)).currentUrl, newer);
});

test("of retargets that come while a browser starts, the last one is where it goes", async () => {
  const cold = await insertTestSession(house.db);
  const urls = Array.from({ length: 6 }, (_, index) => `${site.origin}/cold${index}`);
  for (const url of urls) {
    await house.browsers.retarget(cold, url);
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
  const last = urls.at(-1);
  const isThere = async () => (await house.browsers.readStatus(cold)).currentUrl === last;
  await waitFor(isThere, "the last page");
  const record = await house.browsers.readStatus(cold);
  assert.deepEqual([record.desiredUrl, record.lastNavigatedUrl, record.lastError], [last, last, null]);
  await house.browsers.closeSession(cold);
});

test("a navigation by a tool tells the address reached, or why not", async () => {
  assert.deepEqual(await house.browsers.navigate(sessionId, `${site.origin}/moved`), {
    landed: true,
    url: `${site.origin}/page?from=moved`,
  });
  const record = await house.browsers.readStatus(sessionId);
  assert.equal(record.lastNavigatedUrl, `${site.origin}/page?from=moved`);
  const outcome = await house.browsers.navigate(sessionId, "http://169.254.169.254/latest");
  assert.match(outcome.landed ? "" : outcome.reason, /metadata address/);
});

test("a page that is busy without end and does not give way is told, and is left for another site", async () => {
  const { browsers, db } = hastyHouse;
  const id = await insertTestSession(db);
  const here = `${site.origin}/page`;
  await browsers.navigate(id, here);
  const page = (await browsers.ensure(id)).page();
  await page.evaluate("void setTimeout(() => { for (;;); })");
  const record = await retargetAndPoll(`${site.origin}/other`, browsers, id);
  assert.match(record.lastError ?? "", /busy with its scripts/);
  assert.deepEqual([record.lastNavigatedUrl, record.currentUrl], [here, here]);
  const elsewhere = `http://localhost:${site.port}/page`;
  assert.deepEqual(await browsers.navigate(id, elsewhere), { landed: true, url: elsewhere });
  assert.equal((await browsers.readStatus(id)).lastError, null);
  await browsers.closeSession(id);
});

test("a stopped navigation leaves the page", async () => {
  const outcome = await house.browsers.navigate(sessionId, `${site.origin}/silent`, AbortSignal.timeout(100));
  assert.deepEqual(outcome, { landed: false, reason: "the navigation was stopped" });
});

test("back and forward go through the page's history", async () => {
  await house.browsers.navigate(sessionId, `${site.origin}/one`);
  await house.browsers.navigate(sessionId, `${site.origin}/two`);
  for (const [action, expected] of [
    ["back", "/one"],
    ["forward", "/two"],
  ] as const) {
    await house.browsers.history(sessionId, action);
    await waitFor(async () => path(await house.browsers.readStatus(sessionId)) === expected, expected);
  }
});

test("a page opened by the page is the one shown, until it closes", async () => {
  await house.browsers.navigate(sessionId, `${site.origin}/page`);
  const live = await house.browsers.ensure(sessionId);
  await live.page().evaluate(() => void window.open("/popup"));
  await waitFor(async () => path(await house.browsers.readStatus(sessionId)) === "/popup", "the popup");
  assert.equal(live.page().url(), `${site.origin}/popup`);
  await live.page().evaluate(() => window.close());
  await waitFor(async () => path(await house.browsers.readStatus(sessionId)) === "/page", "the first page");
  assert.equal(live.page().url(), `${site.origin}/page`);
});

test("every change is an event of the session's log, numbered without gaps", async () => {
  const events = await house.log.read(sessionId, { after: 0, limit: 1000 });
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

test("a session whose capabilities have no browser gets none", async () => {
  const without = await insertTestSession(house.db, { capabilities: { browser: false, sandbox: true } });
  await assert.rejects(house.browsers.ensure(without), /capabilities\.browser is false/);
});
