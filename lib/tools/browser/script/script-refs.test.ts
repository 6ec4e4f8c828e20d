import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { nastyPages, otherPages } from "../nasty-pages.ts";
import { takeSnapshot } from "../read/take-snapshot.ts";
import { startSite, startTestBrowser, type TestBrowser } from "../test-fixture.ts";
import { createScriptRunner, type ScriptRunner } from "./script-runner.ts";

const PAGE = `<title>Rows</title><ul>${["One", "Two", "Three"].map((name) => `<li>${name} <button onclick="this.closest('li').remove()">Remove ${name}</button></li>`).join("")}</ul>
  <button onclick="this.outerHTML = this.outerHTML">Replace</button><a href=/next>Next</a>`;

let browser: TestBrowser;
let site: Awaited<ReturnType<typeof startSite>>;
let other: Awaited<ReturnType<typeof startSite>>;
let runner: ScriptRunner;

before(async () => {
  other = await startSite(otherPages);
  site = await startSite({ ...nastyPages(`http://localhost:${other.port}`), "/rows": PAGE, "/next": PAGE });
  const logger = { warn: () => {} };
  [browser, runner] = await Promise.all([startTestBrowser(), createScriptRunner({ logger })]);
});
after(async () => {
  await Promise.all([runner?.close(), browser?.close(), site?.close(), other?.close()]);
});

/** Takes a snapshot and returns the ref that follows a label such as `button "Remove"`. */
async function refOf(label: string): Promise<string> {
  const { lines } = await takeSnapshot(browser.live);
  const found = lines.join("\n").split(`${label} [`)[1]?.split("]")[0];
  return found ?? assert.fail(`${label} in\n${lines.join("\n")}`);
}
const open = (path: string) => browser.live.page().goto(site.url + path);

async function run(script: string) {
  const outcome = await runner.run(browser.live, script, {
    timeoutMs: 60_000,
    signal: new AbortController().signal,
  });
  return outcome.ok ? outcome.value : outcome.error;
}

test("page.ref returns the locator of the snapshot's element, also in shadow roots and frames", async () => {
  await open("/");
  const script = (ref: string, work: string) => `const it = page.ref("${ref}"); ${work}`;
  const inShadow = await refOf('button "Remove"');
  assert.equal(await run(script(inShadow, "return it.textContent()")), "Remove");
  const inFrame = await refOf('button "Inner button"');
  assert.match(inFrame, /^f\d+e\d+$/);
  assert.equal(await run(script(inFrame, "await it.click(); return it.innerText()")), "Inner button");
  const inOtherProcess = await refOf('textbox "Card number"');
  assert.equal(await run(script(inOtherProcess, 'await it.fill("4111"); return it.inputValue()')), "4111");
});

test("a ref follows its element when it moves, and `ref=` works as a selector, too", async () => {
  await open("/rows");
  const third = await refOf('button "Remove Three"');
  const script = `
    await page.evaluate(() => { const list = document.querySelector("ul"); list.prepend(list.lastElementChild); });
    const first = await page.ref("${third}").innerText();
    return [first, await page.locator("aria-ref=${third}").innerText(), await page.ref("${third}").locator("..").innerText()];`;
  assert.deepEqual(await run(script), ["Remove Three", "Remove Three", "Three Remove Three"]);
});

test("a ref whose element is gone fails immediately with advice", async () => {
  await open("/rows");
  const two = await refOf('button "Remove Two"');
  assert.equal(await run(`await page.ref("${two}").click(); return page.locator("li").count()`), 2);
  const gone = new RegExp(
    `the element of ref ${two} is not in the page\nat line 1, column \\d+: await page.ref`,
  );
  assert.match(String(await run(`await page.ref("${two}").click();`)), gone);
  const state = `const gone = page.ref("${two}");
    await gone.waitFor({ state: "hidden" });
    return [await gone.isVisible(), await gone.count(), await gone.isHidden()];`;
  assert.deepEqual(await run(state), [false, 0, true]);

  const replaced = await refOf('button "Replace"');
  assert.match(
    String(await run(`await page.ref("${replaced}").click(); await page.ref("${replaced}").click();`)),
    /not in the page/,
  );
  assert.notEqual(await refOf('button "Replace"'), replaced);

  const one = await refOf('button "Remove One"');
  await open("/next");
  assert.match(String(await run(`await page.ref("${one}").click();`)), /not in the page/);
});

test("an unknown ref fails with an explanation", async () => {
  await open("/rows");
  assert.match(
    String(await run('await page.ref("button 1").click()')),
    /"button 1" is no ref; refs look like e7 or f1e7/,
  );
  assert.match(
    String(await run('await page.ref("e99999").click()')),
    /the element of ref e99999 is not in the page/,
  );
  assert.match(String(await run('await page.ref("f77e1").click()')), /its frame is gone/);
});
