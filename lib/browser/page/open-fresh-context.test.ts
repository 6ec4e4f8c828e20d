import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { LiveBrowser } from "../browser-service.ts";
import {
  insertTestSession,
  openTestBrowsers,
  startTestSite,
  type TestBrowsers,
  waitFor,
} from "../testing.ts";
import type { FreshContext } from "./open-fresh-context.ts";

const PAGE = '<meta name="viewport" content="width=device-width"><title>Fresh</title><h1>Fresh</h1>';

type Site = Awaited<ReturnType<typeof startTestSite>>;

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true };

let site: Site;
let forbidden: Site;
let harness: TestBrowsers;
let live: LiveBrowser;
let contexts: number;
/** URLs of the requests that reached `forbidden`, a server whose address the guard refuses. */
const reached: string[] = [];
const cookies: (string | undefined)[] = [];

before(async () => {
  forbidden = await startTestSite((request, response) => {
    reached.push(request.url ?? "");
    response.end("forbidden");
  });
  site = await startTestSite((request, response) => {
    cookies.push(request.headers.cookie);
    if (request.url === "/redirect")
      response.writeHead(302, { location: `${forbidden.origin}/redirected` }).end();
    else response.writeHead(200, { "content-type": "text/html" }).end(PAGE);
  });
  harness = await openTestBrowsers([`127.0.0.1:${site.port}`, `localhost:${site.port}`]);
  const sessionId = await insertTestSession(harness.db);
  await harness.browsers.navigate(sessionId, `${site.origin}/`);
  live = await harness.browsers.ensure(sessionId);
  contexts = live.browser.contexts().length;
});
after(async () => {
  await harness.close();
  await Promise.all([site.close(), forbidden.close()]);
});

async function withFresh(work: (fresh: FreshContext) => Promise<void>): Promise<void> {
  const fresh = await live.openContext({ ...PHONE, storage: await live.context.storageState() });
  try {
    await work(fresh);
  } finally {
    await fresh.close();
  }
  assert.equal(live.browser.contexts().length, contexts);
}

test("the page has the given storage and viewport", async () => {
  await live.context.addCookies([{ name: "plan", value: "gold", url: site.origin }]);
  await live.page().evaluate(() => localStorage.setItem("cart", "3"));
  await withFresh(async ({ page }) => {
    await page.goto(`${site.origin}/fresh`);
    assert.equal(cookies.at(-1), "plan=gold");
    const seen = await page.evaluate(() => [localStorage.cart, innerWidth, navigator.maxTouchPoints > 0]);
    assert.deepEqual(seen, ["3", 390, true]);
  });
  assert.equal(live.page().viewportSize()?.width, 1280);
});

test("storage is read for every origin that the session has visited, without a visible page", async () => {
  const shown: string[] = [];
  live.context.on("page", (page) => shown.push(page.url()));
  await live.page().evaluate(() => localStorage.setItem("cart", "4"));
  await harness.browsers.navigate(live.sessionId, `http://localhost:${site.port}/`);
  const { origins } = await live.context.storageState();
  assert.deepEqual(
    origins.map(({ origin, localStorage }) => [origin, localStorage[0]?.value]),
    [[site.origin, "4"]],
  );
  assert.equal(live.page().url(), `http://localhost:${site.port}/`);
  assert.deepEqual(shown, []);
});

test("it reaches no refused address, not even by a redirect, a request or a frame", async () => {
  await withFresh(async ({ page, refuse, readRefusal }) => {
    for (const url of [`${forbidden.origin}/direct`, "file:///etc/passwd", "chrome://version", "nothing"])
      assert.notEqual(await refuse(url), undefined, url);
    assert.equal(await refuse(`${site.origin}/fresh`), undefined);
    await assert.rejects(page.goto(`${forbidden.origin}/direct`));
    assert.match(readRefusal() ?? "", /127\.0\.0\.1/);
    await assert.rejects(page.goto(`${site.origin}/redirect`));
    await page.goto(`${site.origin}/fresh`);
    const framed = page.waitForEvent("request", (request) => request.url().endsWith("/frame"));
    await page.evaluate((origin) => {
      const frame = document.createElement("iframe");
      frame.src = `${origin}/frame`;
      document.body.append(frame);
    }, forbidden.origin);
    await framed;
    await page.evaluate(async (origin) => {
      for (const path of ["/fetch", "/again"])
        await fetch(origin + path, { mode: "no-cors" }).catch(() => {});
    }, forbidden.origin);
  });
  assert.deepEqual(reached, []);
});

test("dialogs are dismissed, permissions denied, popups closed and downloads refused; people see none of it", async () => {
  const shown: string[] = [];
  live.context.on("page", (page) => shown.push(page.url()));
  await withFresh(async ({ page }) => {
    await page.goto(`${site.origin}/fresh`);
    const answers = await page.evaluate(async () => {
      const link = document.createElement("a");
      link.download = "file.bin";
      link.href = "data:application/octet-stream,bytes";
      link.click();
      open("/popup");
      const { state } = await navigator.permissions.query({ name: "geolocation" });
      return [confirm("Sure?"), prompt("Name?"), state];
    });
    assert.deepEqual(answers, [false, null, "denied"]);
    await waitFor(() => page.context().pages().length === 1, "the popup to be closed");
  });
  assert.deepEqual(shown, []);
  assert.deepEqual(harness.downloads, []);
});
