import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright";
import {
  insertTestSession,
  openTestBrowsers,
  startTestSite,
  type TestBrowsers,
  waitFor,
} from "../testing.ts";

/** Reads how a document or a worker introduces itself, as JSON. */
const READ = `JSON.stringify({
  userAgent: navigator.userAgent,
  brands: navigator.userAgentData.brands.map(({ brand }) => brand),
  webdriver: navigator.webdriver ?? false,
})`;
const SCRIPTS: Record<string, string> = {
  "/worker.js": `postMessage(${READ})`,
  "/shared.js": `onconnect = ({ ports: [port] }) => port.postMessage(${READ})`,
  "/service.js": `onmessage = ({ source }) => source.postMessage(${READ})`,
};
const WORKERS = {
  worker: () => new Promise((resolve) => new Worker("/worker.js").addEventListener("message", resolve)),
  shared: () =>
    new Promise((resolve) => {
      new SharedWorker("/shared.js").port.onmessage = resolve;
    }),
  service: async () => {
    await navigator.serviceWorker.register("/service.js");
    const { active } = await navigator.serviceWorker.ready;
    return new Promise((resolve) => {
      navigator.serviceWorker.onmessage = resolve;
      active?.postMessage("");
    });
  },
};

let site: Awaited<ReturnType<typeof startTestSite>>;
let harness: TestBrowsers;
/** The headers that say which browser has sent a request, by the path of the request. */
const requested = new Map<string, string>();

before(async () => {
  site = await startTestSite(({ url = "/", headers }, response) => {
    requested.set(url, `${headers["user-agent"]} ${headers["sec-ch-ua"] ?? ""}`);
    const script = SCRIPTS[url];
    if (script) response.writeHead(200, { "content-type": "text/javascript" }).end(script);
    else
      response
        .writeHead(200, { "content-type": "text/html" })
        .end(url === "/" ? `<iframe src="http://127.0.0.1:${site.port}/frame"></iframe>` : "<p>Inside</p>");
  });
  const allow = [`localhost:${site.port}`, `127.0.0.1:${site.port}`];
  harness = await openTestBrowsers(allow, { webdriver: false, maxLive: 2 });
});
after(async () => {
  await harness.close();
  await site.close();
});

function assertVisitor(text: string, where: string): void {
  const { userAgent, brands, webdriver } = JSON.parse(text);
  assert.match(userAgent, / Chrome\/\d+\.0\.0\.0 /, where);
  assert.deepEqual([brands.includes("Chromium"), webdriver], [true, false], `${where}: ${text}`);
  assert.doesNotMatch(text, /headless/i, where);
}

async function readIn(page: Page, name: keyof typeof WORKERS): Promise<string> {
  const source = `(${WORKERS[name]})().then(({ data }) => data)`;
  return page.evaluate(source) as Promise<string>;
}

test("pages, frames, popups, workers and checks see a browser of people, and so do their servers", async () => {
  const live = await harness.browsers.ensure(await insertTestSession(harness.db));
  const page = live.page();
  await page.goto(`http://localhost:${site.port}/`);
  assertVisitor(await page.evaluate(READ), "page");
  const frame = await waitFor(() => page.frames()[1], "the frame");
  await frame.waitForLoadState();
  assertVisitor(await frame.evaluate(READ), "frame");
  for (const name of ["worker", "shared", "service"] as const)
    assertVisitor(await readIn(page, name), `${name} worker`);

  const opened = page.waitForEvent("popup");
  await page.evaluate(() => void open("/popup"));
  const popup = await opened;
  await popup.waitForLoadState();
  assertVisitor(await popup.evaluate(READ), "popup");

  const storage = { cookies: [], origins: [] };
  const checked = await live.openContext({ viewport: { width: 800, height: 600 }, isMobile: false, storage });
  await checked.page.goto(`http://localhost:${site.port}/checked`);
  assertVisitor(await checked.page.evaluate(READ), "page of a check");
  await checked.close();

  for (const [path, headers] of requested) assert.doesNotMatch(headers, /headless/i, path);
  for (const path of ["/", "/frame", "/popup", "/checked"])
    assert.match(requested.get(path) ?? "", / Chrome\/\d+\.0\.0\.0 .*"Chromium"/, path);
});

test("a lease gets the same identity", async () => {
  const lease = await harness.browsers.lease(new AbortController().signal);
  await lease.release();
  assert.ok(lease.args.includes("--disable-blink-features=AutomationControlled"));
  assert.ok(lease.args.includes(`--user-agent=${lease.identity?.userAgent}`));
});
