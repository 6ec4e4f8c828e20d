import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { after, before, beforeEach, test } from "node:test";
import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import {
  insertTestSession,
  openTestBrowsers,
  startTestSite,
  type TestBrowsers,
  waitFor,
} from "#lib/browser/testing.ts";
import type { Tool } from "../tool.ts";
import { browserTools } from "./index.ts";
import { createPageTurns } from "./page-turns.ts";
import { createFirstLook, type FirstLook } from "./read/first-look.ts";
import { createSnapshotBook } from "./read/snapshot-book.ts";
import { createScriptRunner, type ScriptRunner } from "./script/script-runner.ts";
import {
  callOf,
  createEvidenceMemory,
  createTestControl,
  createTestSandbox,
  NO_VARIANTS,
  textOf,
} from "./test-fixture.ts";

const SHOP = `<!doctype html><title>Shop</title><meta charset="utf-8"><style>h1 { color: teal }</style>
  <h1>Größe wählen</h1><a href="/silent">Checkout</a><form action="/silent" method="post"><input name="name"><button>Pay</button></form>
  <iframe srcdoc="<p>Inside the frame</p>"></iframe><div id="host"></div>
  <script>host.attachShadow({ mode: "open" }).innerHTML = "<button>In the shadow</button>"</script>`;

let site: Awaited<ReturnType<typeof startTestSite>>;
let testBrowsers: TestBrowsers;
let scripts: ScriptRunner;
let tools: Map<string, Tool>;
let firstLook: FirstLook;
let sessionId: string;
let live: LiveBrowser;
/** The requests that the site has not answered. */
const held: ServerResponse[] = [];

before(async () => {
  site = await startTestSite((request, response) => {
    const html = (body: string) => response.writeHead(200, { "content-type": "text/html" }).end(body);
    switch (request.url) {
      case "/silent":
        held.push(response);
        return;
      case "/beginning":
        held.push(response);
        response.writeHead(200, { "content-type": "text/html" }).flushHeaders();
        return;
      case "/reloads":
        return html(
          "<title>Reloads</title><h1>Reloaded</h1><script>setTimeout(() => location.reload(), 300)</script>",
        );
      case "/other":
        return html("<title>Other</title><h1>Another page</h1>");
      default:
        return html(SHOP);
    }
  });
  testBrowsers = await openTestBrowsers([`127.0.0.1:${site.port}`, `localhost:${site.port}`]);
  scripts = await createScriptRunner({ logger: { warn: () => {} } });
  const services = {
    browser: testBrowsers.browsers,
    control: createTestControl(),
    pageTurns: createPageTurns(),
    scripts,
    sandbox: createTestSandbox(),
    evidence: createEvidenceMemory(),
    snapshots: createSnapshotBook(),
    scriptHelpers: () => ({}),
    variants: NO_VARIANTS,
  };
  const all = browserTools(services);
  firstLook = createFirstLook(services);
  tools = new Map(all.map((tool) => [tool.name, tool]));
  sessionId = await insertTestSession(testBrowsers.db);
});
after(async () => {
  await scripts.close();
  await testBrowsers.close();
  await site.close();
});
beforeEach(async () => {
  await testBrowsers.browsers.navigate(sessionId, `${site.origin}/`);
  live = await testBrowsers.browsers.ensure(sessionId);
});

async function use(name: string, input: object = {}): Promise<string> {
  const tool = tools.get(name);
  assert.ok(tool);
  const result = await tool.execute(tool.input.parse(input), callOf(undefined, sessionId));
  assert.ok("content" in result);
  return textOf(result);
}

const run = (script: string) => use("browser_execute", { script });

const untilPending = () => waitFor(() => live.documents.of(live.page().mainFrame()), "a pending navigation");

const PENDING = /A navigation of the page is pending: its server has not answered for \d+\.\d s\./;

test("all tools that read answer about the page of before, and say that a navigation is pending", async () => {
  await live.page().evaluate("location.href = '/silent'");
  await untilPending();
  const expected: [name: string, input: object, content: RegExp][] = [
    ["dom_query", {}, /Größe wählen[\s\S]*Inside the frame[\s\S]*In the shadow/],
    ["dom_query", { role: "button" }, /2 elements match[\s\S]*"Pay"[\s\S]*"In the shadow"/],
    ["browser_search", { query: "größe" }, /1 match/],
    ["inspect_frames", {}, /"total": 2/],
    ["save_cleaned_html", {}, /title: Shop/],
    ["screenshot", {}, /size: 1280×800/],
    ["screenshot", { selector: "h1", marks: true }, /Screenshot of h1/],
    ["capture_preview", { device: "mobile" }, /size: 390×844/],
  ];
  for (const [name, input, content] of expected) {
    const text = await use(name, input);
    assert.match(text, PENDING, name);
    assert.ok(text.includes(`${site.origin}/silent`), name);
    assert.match(text, content, name);
    assert.ok(live.documents.of(live.page().mainFrame()), `${name} does not stop the navigation`);
  }
});

test("a navigation of a person or of a retarget is pending too, and another one leaves", async () => {
  const { browsers } = testBrowsers;
  const [silent, other] = [`${site.origin}/silent`, `${site.origin}/other`];
  const look = () => firstLook({ sessionId, browserSessionId: sessionId }, new AbortController().signal);

  const first = browsers.navigate(sessionId, silent);
  await untilPending();
  assert.match(await look(), /pending[\s\S]*\/silent[\s\S]*Größe wählen/);
  assert.deepEqual(await browsers.navigate(sessionId, other), { landed: true, url: other });
  assert.equal((await first).landed, false);

  await browsers.retarget(sessionId, silent);
  await untilPending();
  assert.match(await look(), /pending[\s\S]*\/silent[\s\S]*Another page/);
  await browsers.retarget(sessionId, `${site.origin}/`);
  await waitFor(() => live.page().url() === `${site.origin}/`, "the page of the second retarget");
  assert.match(await look(), /Größe wählen/);
});

const BEGINNINGS: [what: string, script: string][] = [
  ["a link that a script clicks", "await page.click('a')"],
  ["a form that a script sends", "await page.getByRole('button', { name: 'Pay' }).click()"],
  ["a script of the page", "await page.evaluate(() => { location.href = '/silent' })"],
  [
    "a timer of the page",
    "await page.evaluate(() => { setTimeout(() => { location.href = '/silent' }, 20) })",
  ],
  [
    "a meta refresh",
    "await page.evaluate(() => { document.head.innerHTML += '<meta http-equiv=refresh content=\"0;url=/silent\">' })",
  ],
  ["Enter in a form", "await page.locator('input').focus(); await page.keyboard.press('Enter')"],
  [
    "a page that opens the document again and again",
    "await page.evaluate(() => { const go = () => { location.href = '/silent' }; go(); setInterval(go, 300) })",
  ],
];

for (const [what, script] of BEGINNINGS)
  test(`a script that begins a navigation without an answer says so, and another one leaves: ${what}`, async () => {
    const text = await run(script);
    assert.ok(!text.includes("The script failed"), text);
    assert.match(text, PENDING);
    assert.match(text, /It leads to "http:[^"]*\/silent"/);
    assert.match(text, /Größe wählen/);
    const left = await run(
      `await page.goto('${site.origin}/other'); return await page.locator('h1').innerText();`,
    );
    assert.match(left, /Another page/);
    assert.doesNotMatch(await use("dom_query"), PENDING);
  });

test("page.goto says what it waited for, and leaves the page of before as it is", async () => {
  const text = await run(`await page.goto('${site.origin}/silent', { timeout: 500 })`);
  assert.match(text, /Timeout 500ms exceeded.* navigation of the page to "http:[^"]*\/silent" is pending/);
  assert.match(text, /Größe wählen/);
});

test("a page that reloads itself every 300 ms is read, and left", async () => {
  await testBrowsers.browsers.navigate(sessionId, `${site.origin}/reloads`);
  assert.match(await use("dom_query"), /Reloaded/);
  assert.match(await use("browser_search", { query: "reloaded" }), /1 match/);
  assert.match(await use("screenshot"), /size: 1280×800/);
  const left = await run(`await page.goto('${site.origin}/other'); return page.title()`);
  assert.match(left, /Other/);
});

test("a call that needs the page of before fails with the reason, whatever it would wait for", async () => {
  // Chromium answers calls until it has sent the request.
  const script = (call: string) => `await page.click('a');
    await (async () => { for (;;) await page.title(); })().catch(() => {});
    await ${call}`;
  for (const call of [
    "page.title()",
    "page.keyboard.press('Tab')",
    "page.click('#missing', { timeout: 500 })",
  ]) {
    await testBrowsers.browsers.navigate(sessionId, `${site.origin}/`);
    const text = await run(script(call));
    assert.match(text, /a navigation of the page to "http:[^"]*\/silent" is pending/, call);
    assert.doesNotMatch(text, /no element matches|keeps? it busy/);
  }
});

test("a script waits for a page whose server is slow", async () => {
  const from = held.length;
  assert.match(await run("await page.click('a')"), PENDING);
  const waiting = run("await page.waitForURL('**/silent'); return page.locator('h1').innerText()");
  const response = await waitFor(() => held[from], "the request of the link");
  // The script is connected when the service has passed its first command.
  response.writeHead(200, { "content-type": "text/html" }).end("<h1>At last</h1>");
  assert.match(await waiting, /At last/);
});

test("a page of the history that does not come leaves the shown page readable", async () => {
  const from = held.length;
  const open = live.page().goto(`${site.origin}/silent`);
  const response = await waitFor(() => held[from], "the first request");
  response.writeHead(200, { "content-type": "text/html", "cache-control": "no-store" }).end("First");
  await open;
  await testBrowsers.browsers.navigate(sessionId, `${site.origin}/`);
  await live.page().evaluate("history.back()");
  await untilPending();
  assert.match(await use("dom_query"), /pending[\s\S]*Größe wählen/);
});

test("a new tab whose document does not come is named, and the page stays readable", async () => {
  const text = await run("await page.evaluate(() => { window.open('/silent') })");
  assert.match(text, /A new tab waits for "http:[^"]*\/silent": its server has not answered/);
  assert.match(await use("dom_query"), /Größe wählen/);
  assert.match(await use("screenshot"), /size: 1280×800/);
});

test("a frame whose document does not come leaves the rest readable", async () => {
  // A frame of another site has a process of its own.
  const other = `http://localhost:${site.port}`;
  const show = (path: string) =>
    live.page().evaluate((url) => {
      document.querySelector("iframe")?.removeAttribute("srcdoc");
      document.querySelector("iframe")?.setAttribute("src", url);
    }, other + path);
  await show("/other");
  await waitFor(async () => (await use("dom_query")).includes("Another page"), "the frame");
  await show("/silent");
  await waitFor(
    () =>
      live
        .page()
        .frames()
        .some((frame) => live.documents.of(frame)),
    "a frame that waits",
  );
  assert.match(await use("dom_query"), /Größe wählen/);
  assert.match(await use("inspect_frames"), /"total": [12]/);
});

test("a document of which only the headers come is left at once", async () => {
  await live.page().evaluate("location.href = '/beginning'");
  await live.page().waitForURL("**/beginning", { waitUntil: "commit" });
  assert.match(await use("dom_query"), /nothing is shown|beginning/);
  await assert.rejects(use("screenshot"), /only the beginning of its document has arrived/);
  const left = await run(`await page.goto('${site.origin}/other'); return page.title()`);
  assert.match(left, /Other/);
});
