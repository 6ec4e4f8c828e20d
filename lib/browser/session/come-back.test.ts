import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import type { LiveBrowser } from "../browser-service.ts";
import {
  insertTestSession,
  openTestBrowsers,
  startTestSite,
  type TestBrowserService,
  type TestBrowsers,
  waitFor,
} from "../testing.ts";

/** Responses to `/gate` wait until this promise resolves. */
let gate = Promise.withResolvers<void>();
let site: Awaited<ReturnType<typeof startTestSite>>;
let harness: TestBrowsers;
let browsers: TestBrowserService;
let now = Date.parse("2026-01-01T00:00:00Z");

const MINUTE_MS = 60_000;

before(async () => {
  site = await startTestSite(async (request, response) => {
    const path = request.url ?? "/";
    if (path === "/gate") await gate.promise;
    if (path === "/moved") return response.writeHead(302, { location: "/moved-here" }).end();
    if (path === "/off" && isOff) return request.socket.destroy();
    response.writeHead(200, { "content-type": "text/html" });
    response.end(`<title>${path}</title>
      <style>a { position: fixed; inset: 0; display: block }</style><a href="/linked">on</a>`);
  });
  harness = await openTestBrowsers([`127.0.0.1:${site.port}`], {
    idleMs: MINUTE_MS,
    clockMs: () => now,
  });
  browsers = harness.browsers;
});
let isOff = false;
afterEach(() => {
  gate.resolve();
  gate = Promise.withResolvers<void>();
  isOff = false;
});
after(async () => {
  await harness.close();
  await site.close();
});

const at = (path: string) => `${site.origin}${path}`;
const readStatus = (sessionId: string) => browsers.readStatus(sessionId);

async function retarget(sessionId: string, url: string): Promise<void> {
  await browsers.retarget(sessionId, url);
  await waitFor(async () => (await readStatus(sessionId)).lastNavigatedUrl === url, `${url} to be reached`);
}
const isShown = (sessionId: string, url: string) =>
  waitFor(async () => (await readStatus(sessionId)).currentUrl === url, `${url} to be shown`);

/** Ways to reach a page, each with the path of the page that the browser shows afterwards. */
const WAYS: Record<string, [path: string, go: (live: LiveBrowser) => Promise<unknown>]> = {
  "a retarget": ["/retargeted", (live) => retarget(live.sessionId, at("/retargeted"))],
  "a retarget that is redirected": ["/moved-here", (live) => retarget(live.sessionId, at("/moved"))],
  "a tool": ["/by-tool", (live) => browsers.navigate(live.sessionId, at("/by-tool"))],
  "a script of the agent": ["/by-script", (live) => live.page().goto(at("/by-script"))],
  "a person's click": [
    "/linked",
    async ({ sessionId, page }) => {
      // Waits until the link is painted, because a click before the document's first frame has no effect.
      await page().waitForFunction(() => document.querySelector("a") !== null);
      await page().evaluate(
        () => new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown))),
      );
      const mouse = { type: "mouse", x: 40, y: 40, button: "left", clickCount: 1, modifiers: 0 } as const;
      await browsers.input(sessionId, { ...mouse, action: "down" });
      await browsers.input(sessionId, { ...mouse, action: "up" });
    },
  ],
  "the page itself": ["/by-page", (live) => live.page().evaluate(() => void location.assign("/by-page"))],
  "the page's pushState": [
    "/pushed",
    (live) => live.page().evaluate(() => history.pushState(null, "", "/pushed")),
  ],
  "a popup": ["/popup", (live) => live.page().evaluate(() => void window.open("/popup"))],
};

const isExpired = (sessionId: string) =>
  waitFor(async () => (await readStatus(sessionId)).status === "expired", "the browser to expire");

/** Ways to end a browser. */
const ENDS: Record<string, (live: LiveBrowser) => Promise<void>> = {
  async "it was reaped"() {
    now += 2 * MINUTE_MS;
    await browsers.reapIdle();
  },
  async "it was reaped and its session rested"() {
    for (const minutes of [2, 11]) {
      now += minutes * MINUTE_MS;
      await browsers.reapIdle();
    }
  },
  async "its process crashed"(live) {
    const cdp = await live.browser.newBrowserCDPSession();
    void cdp.send("Browser.crash").catch(() => {});
    await isExpired(live.sessionId);
  },
  async "the service was restarted"() {
    const before = browsers;
    browsers = await harness.restart();
    await before.close();
  },
};

for (const [end, ended] of Object.entries(ENDS))
  test(`after ${end}, the browser comes back on the last page it showed`, async () => {
    const isReaped = end === "it was reaped";
    // The stored page does not depend on how the browser ended, so the other ends are tested with two ways only.
    const ways = Object.entries(WAYS).filter(([way]) => isReaped || /script|pushState/.test(way));
    const sessionId = await insertTestSession(harness.db, { targetUrl: at("/created") });
    for (const [way, [path, go]] of ways) {
      const live = await browsers.ensure(sessionId);
      await retarget(sessionId, at("/selected"));
      await go(live);
      await isShown(sessionId, at(path));
      const { lastNavigatedUrl, desiredUrl } = await readStatus(sessionId);
      await ended(live);
      await isExpired(sessionId);

      assert.equal((await browsers.ensure(sessionId)).page().url(), at(path), way);
      const back = await readStatus(sessionId);
      assert.deepEqual(
        [back.currentUrl, back.lastNavigatedUrl, back.desiredUrl, back.lastError],
        [at(path), lastNavigatedUrl, desiredUrl, null],
        way,
      );
    }
    await browsers.closeSession(sessionId);
  });

test("a browser opens the page that was selected while none ran, not the last page reached", async () => {
  const sessionId = await insertTestSession(harness.db);
  await browsers.navigate(sessionId, at("/before"));
  await browsers.closeSession(sessionId);
  await retarget(sessionId, at("/selected"));
  assert.equal((await readStatus(sessionId)).currentUrl, at("/selected"));
  await browsers.closeSession(sessionId);
});

test("if the selected page is refused, the last page reached is opened and the reason stays", async () => {
  const sessionId = await insertTestSession(harness.db);
  await browsers.navigate(sessionId, at("/before"));
  isOff = true;
  const isRefused = () =>
    waitFor(async () => (await readStatus(sessionId)).lastError !== null, "the refusal to be recorded");
  await browsers.retarget(sessionId, at("/off"));
  await isRefused();
  await browsers.closeSession(sessionId);

  assert.equal((await browsers.ensure(sessionId)).page().url(), at("/before"));
  const refused = await readStatus(sessionId);
  assert.match(refused.lastError ?? "", /closed the connection/);
  assert.deepEqual(
    [refused.desiredUrl, refused.lastNavigatedUrl, refused.currentUrl],
    [at("/off"), at("/before"), at("/before")],
  );
  await browsers.closeSession(sessionId);

  // The page is still selected, so the next start of the browser tries it again.
  isOff = false;
  assert.equal((await browsers.ensure(sessionId)).page().url(), at("/off"));
  const reached = await readStatus(sessionId);
  assert.deepEqual([reached.lastNavigatedUrl, reached.lastError], [at("/off"), null]);
  await browsers.closeSession(sessionId);
});

test("a retarget to the page shown before is not landed until the page is reached again", async () => {
  for (const [end, ended] of [...Object.entries(ENDS), ["nothing", async () => {}] as const]) {
    const sessionId = await insertTestSession(harness.db);
    gate.resolve();
    await retarget(sessionId, at("/gate"));
    const live = await browsers.ensure(sessionId);
    gate = Promise.withResolvers<void>();
    await ended(live);
    await browsers.retarget(sessionId, at("/gate"));
    await waitFor(async () => {
      const { status, lastNavigatedUrl, lastError } = await readStatus(sessionId);
      assert.deepEqual([lastNavigatedUrl, lastError], [null, null], end);
      return status === "ready";
    }, "the browser to be up");
    gate.resolve();
    await waitFor(async () => (await readStatus(sessionId)).lastNavigatedUrl === at("/gate"), "the landing");
    const events = await harness.log.read(sessionId, { after: 0, limit: 1_000 });
    const records = events.map(({ body }) => JSON.parse(body) as { lastNavigatedUrl: string | null });
    const landings = records.map(({ lastNavigatedUrl }) => lastNavigatedUrl !== null);
    // The events show that the page was reached, then that it was not reached, then that it was reached again. After
    // the retarget, no event shows a reached page until the page of the retarget is reached.
    const turns = landings.filter((landed, index) => landed !== landings[index - 1]);
    assert.deepEqual(turns.slice(-3), [true, false, true], end);
    await browsers.closeSession(sessionId);
  }
});

test("any other start of the browser also clears the landing until the page is reached", async () => {
  const sessionId = await insertTestSession(harness.db);
  gate.resolve();
  await retarget(sessionId, at("/gate"));
  await browsers.closeSession(sessionId);
  assert.equal((await readStatus(sessionId)).lastNavigatedUrl, at("/gate"));
  gate = Promise.withResolvers<void>();
  const live = browsers.ensure(sessionId);
  await waitFor(async () => (await readStatus(sessionId)).status === "ready", "the browser to be up");
  assert.equal((await readStatus(sessionId)).lastNavigatedUrl, null);
  gate.resolve();
  await live;
  assert.equal((await readStatus(sessionId)).lastNavigatedUrl, at("/gate"));
  await browsers.closeSession(sessionId);
});

test("a refused retarget to the page shown restores its landing", async () => {
  const sessionId = await insertTestSession(harness.db);
  await retarget(sessionId, at("/off"));
  isOff = true;
  await browsers.retarget(sessionId, at("/off"));
  const refused = await waitFor(async () => {
    const record = await readStatus(sessionId);
    return record.lastError !== null && record;
  }, "the refusal");
  assert.deepEqual([refused.lastNavigatedUrl, refused.currentUrl], [at("/off"), at("/off")]);
  await browsers.closeSession(sessionId);
});

test("lastError stays after a pushState of the current page, and is cleared by the next document", async () => {
  const sessionId = await insertTestSession(harness.db);
  await retarget(sessionId, at("/app"));
  isOff = true;
  await browsers.retarget(sessionId, at("/off"));
  const readError = async () => (await readStatus(sessionId)).lastError;
  await waitFor(async () => (await readError()) !== null, "the refusal");
  const page = (await browsers.ensure(sessionId)).page();
  await page.evaluate(() => history.pushState(null, "", "/app/next"));
  await isShown(sessionId, at("/app/next"));
  assert.match((await readError()) ?? "", /closed the connection/);
  await page.evaluate(() => location.reload());
  await waitFor(async () => (await readError()) === null, "the error to end");
  await browsers.closeSession(sessionId);
});
