import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { findTestChromium } from "#lib/browser/testing.ts";
import { type HttpTestService, openHttpTestService } from "../http-testing.ts";
import { runOnPage } from "../page-testing.ts";
import { deployFiles } from "./pages-testing.ts";

// The public https origins in the settings of the service. They do not exist in DNS, but the agent's browser must reach
// the service under them.
const BASE_URL = "https://service.test";
const PUBLIC_PAGES_ORIGIN = "https://pages.test";

const FILES = {
  "index.html": `<!doctype html><title>Sale</title><link rel="stylesheet" href="style.css"><h1>Sale</h1>
    <script type="module" src="app.js"></script>`,
  "style.css": "h1 { color: rgb(1, 2, 3) }",
  "app.js": `const { name } = await (await fetch("data.json")).json(); document.title = name;`,
  "data.json": '{"name":"Loaded"}',
};

/**
 * Returns an expression that fetches an address in a page. It resolves to "answered" and the type of the response, or
 * to "failed".
 */
const probe = (address: string) => `fetch(${JSON.stringify(address)}, { mode: "no-cors" })
  .then(({ type }) => "answered " + type, () => "failed")`;

for (const [title, variables] of [
  ["BASE_URL", { BASE_URL }],
  ["PUBLIC_PAGES_ORIGIN", { BASE_URL, PUBLIC_PAGES_ORIGIN }],
] as const) {
  describe(`the agent's browser under an https ${title}`, () => {
    let service: HttpTestService;
    before(async () => {
      const { executablePath: BROWSER_EXECUTABLE_PATH } = findTestChromium();
      service = await openHttpTestService({ ...variables, BROWSER_EXECUTABLE_PATH });
    });
    after(() => service.close());

    it("opens the session's landing page, and nothing else of the service", async () => {
      const { session, page } = await deployFiles(service, FILES);
      const origin = title === "BASE_URL" ? BASE_URL : PUBLIC_PAGES_ORIGIN;
      assert.equal(page.url, `${origin}/p/${page.slug}/`);
      const { browser } = service.container.services;
      const { sessionId } = session;
      await browser.navigate(sessionId, page.url);
      const run = <Value>(script: string) => runOnPage<Value>(service, sessionId, script);
      const evaluate = (expression: string) => run(`return page.evaluate(${JSON.stringify(expression)})`);
      await run("await page.waitForFunction(() => document.title === 'Loaded')");
      assert.equal(await run("return page.url()"), page.url);
      const color = await evaluate("getComputedStyle(document.querySelector('h1')).color");
      assert.equal(color, "rgb(1, 2, 3)");

      for (const path of [`/s/${sessionId}`, "/api/health", "/", "/login?token=x", "/p/../api/health"]) {
        for (const host of new Set([BASE_URL, origin])) {
          await browser.navigate(sessionId, `${host}${path}`).catch(() => {});
          const { lastError } = await browser.readStatus(sessionId);
          assert.match(lastError ?? "", /this service's own pages are not for the agent's browser/, path);
          assert.equal(await run("return page.url()"), page.url, path);
        }
      }
      // Navigations and requests that the page's own scripts start are refused too.
      for (const host of new Set([BASE_URL, origin])) {
        await evaluate(`location.assign(${JSON.stringify(`${host}/api/health`)})`);
        const answered = await evaluate(probe(`${host}/api/health`));
        assert.equal(answered, "answered opaque", "the answer is a 403 of the proxy");
        const url = `${host.replace("https", "wss")}/api/sessions/${sessionId}/live`;
        const socket = await evaluate(`new Promise((resolve) => {
          const tried = new WebSocket(${JSON.stringify(url)});
          tried.onopen = () => resolve("open");
          tried.onerror = () => resolve("failed");
        })`);
        assert.equal(socket, "failed");
      }
      assert.equal(await run("return page.url()"), page.url);
      await browser.navigate(sessionId, `${BASE_URL}/v/demo.js`);
      assert.equal((await browser.readStatus(sessionId)).lastError, null);
    });
  });
}
