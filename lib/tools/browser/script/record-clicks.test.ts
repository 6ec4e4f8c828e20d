import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  insertTestSession,
  openTestBrowsers,
  startTestSite,
  type TestBrowsers,
  waitFor,
} from "#lib/browser/testing.ts";
import { listClicks } from "./record-clicks.ts";
import { createScriptRunner, type ScriptRunner } from "./script-runner.ts";

let site: Awaited<ReturnType<typeof startTestSite>>;
let harness: TestBrowsers;
let scripts: ScriptRunner;
let sessionId: string;

before(async () => {
  site = await startTestSite((_, response) => {
    response.writeHead(200, { "content-type": "text/html" });
    response.end(`<title>Shop</title><main><button id="menu"><b>Menu</b></button><p id="text">Text</p></main>
      <script>menu.onclick = () => { text.before(document.createElement("hr")); menu.firstChild.remove(); menu.textContent = "Menu"; };
      document.addEventListener("click", (event) => { if (!event.isTrusted) return; text.click(); });</script>`);
  });
  harness = await openTestBrowsers([`127.0.0.1:${site.port}`]);
  sessionId = await insertTestSession(harness.db);
  scripts = await createScriptRunner({ logger: { warn: () => {} }, isWarm: false });
  await harness.browsers.navigate(sessionId, site.origin);
});
after(async () => {
  await scripts.close();
  await harness.close();
  await site.close();
});

test("the controls that scripts click are recorded on each document, without the page's own clicks, the newest 50", async () => {
  const live = await harness.browsers.ensure(sessionId);
  const outcome = await scripts.run(
    live,
    `await page.click("#menu b"); await page.goto("${site.origin}/next"); await page.click("#text");`,
    { timeoutMs: 30_000, signal: new AbortController().signal },
  );
  assert.equal(outcome.ok, true, JSON.stringify(outcome));
  await waitFor(() => listClicks(live).length >= 2, "both clicks");
  assert.deepEqual(listClicks(live), [
    { url: `${site.origin}/`, selector: "#menu" },
    { url: `${site.origin}/next`, selector: "#text" },
  ]);
  const many = `const { x, y } = await page.locator("#menu").boundingBox();
    for (let at = 0; at < 55; at++) await page.mouse.click(x + 5, y + 5);`;
  const repeated = await scripts.run(live, many, { timeoutMs: 60_000, signal: new AbortController().signal });
  assert.equal(repeated.ok, true, JSON.stringify(repeated));
  await waitFor(() => listClicks(live).length === 50, "the clicks");
  await waitFor(
    () => !listClicks(live).some(({ selector }) => selector === "#text"),
    "the oldest are dropped",
  );
});
