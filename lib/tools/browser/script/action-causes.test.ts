import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createSnapshotBook } from "../read/snapshot-book.ts";
import {
  callOf,
  createTestControl,
  createTestSandbox,
  startSite,
  startTestBrowser,
  type TestBrowser,
  textOf,
} from "../test-fixture.ts";
import { browserExecute } from "./browser-execute.ts";
import { createScriptRunner, type ScriptRunner } from "./script-runner.ts";
import { workspaceFiles } from "./workspace-files.ts";

const COVER = "position:fixed;inset:0;background:#fff";
const TARGETS = `<button id=buy onclick="out.textContent = 'bought'">Buy</button><input id=name><p id=out></p>`;
/** While the item is dragged, a layer above the whole page shows the cursor of the drag. */
const DRAG = `<style>#item, #goal { position: absolute; width: 80px; height: 40px } #goal { left: 400px; top: 200px }
  #layer { position: fixed; inset: 0; cursor: grabbing }</style>
  <div id=item>Item</div><div id=goal>Goal</div><p id=out></p><script>
  item.onpointerdown = () => {
    const layer = Object.assign(document.createElement("div"), { id: "layer" });
    document.body.append(layer);
    addEventListener("pointerup", ({ clientX, clientY }) => {
      layer.remove();
      if (document.elementFromPoint(clientX, clientY) === goal) out.textContent = "dropped";
    }, { once: true });
  };</script>`;
const PAGES = {
  "/cover": `${TARGETS}<div role=dialog aria-label=Cookies style="${COVER}"><button>Accept</button></div>`,
  "/modal": `${TARGETS}<dialog id=ask aria-label=Survey>Ready?</dialog><script>ask.showModal()</script>`,
  "/off": `<style>body { pointer-events: none }</style>${TARGETS}
    <div role=dialog aria-label=Filter style="position:fixed;right:0;bottom:0;pointer-events:auto">Colours</div>`,
  "/closing": `${TARGETS}<div id=gone role=dialog aria-label=Loading style="${COVER}">Wait</div>
    <script>setTimeout(() => gone.remove(), 500)</script>`,
  "/opening": `${TARGETS}<div id=thanks role=dialog aria-label=Thanks hidden style="${COVER}">Thanks</div><script>
    buy.onclick = () => { thanks.hidden = false; location.href = "/slow"; };</script>`,
  "/ignoring": `<input id=fixed value=A oninput="this.value = 'A'"><input id=late oninput="setTimeout(() => { this.value = '' })">
    <div id=editor contenteditable onbeforeinput="event.preventDefault()">Text</div>
    <select id=size onchange="this.value = 's'"><option value=s>Small<option value=l>Large</select>
    <input id=digits oninput="this.value = this.value.replace(/[^0-9]/g, '')"><input id=plain value=x>`,
  "/drag": DRAG,
};

let site: Awaited<ReturnType<typeof startSite>>;
let browser: TestBrowser;
let scripts: ScriptRunner;

before(async () => {
  [site, browser, scripts] = await Promise.all([
    startSite(PAGES),
    startTestBrowser(),
    createScriptRunner({ logger: { warn: () => {} } }),
  ]);
});
after(async () => {
  await scripts.close();
  await Promise.all([browser.close(), site.close()]);
});

/** Opens a page and runs a script there. @returns the text for the model, without the marks around data. */
async function run(path: string, script: string): Promise<string> {
  await browser.live.page().goto(site.url + path);
  const tool = browserExecute({
    browser: browser.service,
    control: createTestControl(),
    scripts,
    files: workspaceFiles(createTestSandbox()),
    scriptHelpers: () => ({}),
    snapshots: createSnapshotBook(),
  });
  const result = await tool.execute({ script, timeoutMs: 60_000 }, callOf());
  return textOf(result).replace(/What stands between[^\n]*\n<data-\w+>\n|\n<\/data-\w+>/g, "");
}
const textOfOut = () => browser.live.page().evaluate(() => document.querySelector("#out")?.textContent);

const BEHIND: [path: string, action: string, cause: string][] = [
  ["/cover", "page.click('#buy')", 'it is covered by dialog "Cookies"'],
  ["/cover", "page.locator('#name').hover()", 'it is covered by dialog "Cookies"'],
  ["/cover", "page.locator('#buy').dragTo(page.locator('#name'))", 'it is covered by dialog "Cookies"'],
  ["/modal", "page.getByRole('button').click()", 'dialog "Survey"'],
  ["/modal", "page.fill('#name', 'Ada')", 'it is behind dialog "Survey", which is open'],
  ["/off", "page.click('#buy')", 'it is behind dialog "Filter", which is open'],
];
for (const [path, action, cause] of BEHIND)
  test(`an action on an element behind a dialog fails without a timeout: ${action} on ${path}`, async () => {
    const report = await run(path, `await ${action}`);
    assert.match(report, /^The script failed\. /);
    assert.ok(report.includes(cause), report);
    assert.doesNotMatch(report, /Timeout/);
    assert.match(report, /Answer or close the dialog first/);
  });

test("an action waits for a dialog that closes by itself, and its own dialog is no cause", async () => {
  assert.doesNotMatch(await run("/closing", "await page.click('#buy')"), /failed/);
  assert.equal(await textOfOut(), "bought");
  assert.doesNotMatch(await run("/opening", "await page.click('#buy')"), /The script failed/);
});

const IGNORED: [call: string, values: string][] = [
  ["page.fill('#fixed', 'B')", '"A" instead of "B"'],
  ["page.locator('#fixed').clear()", '"A" instead of ""'],
  ["page.locator('#late').fill('B')", '"" instead of "B"'],
  ["page.locator('#editor').fill('New')", '"Text" instead of "New"'],
  ["page.selectOption('#size', { label: 'Large' })", '"s" instead of "l"'],
];
for (const [call, values] of IGNORED)
  test(`a call whose value the page takes back is told: ${call}`, async () => {
    const report = await run("/ignoring", `await ${call}`);
    assert.ok(report.includes(`the value did not change: the field still has ${values}`), report);
  });

test("a value that the page alters, and the value that the field has already, are no failure", async () => {
  const script =
    "await page.fill('#digits', '1a2'); await page.fill('#plain', 'x'); return await page.inputValue('#digits');";
  assert.match(await run("/ignoring", script), /^Result: 12\n/);
});

test("a drag that is intercepted says how to drag, and that works", async () => {
  const report = await run(
    "/drag",
    "await page.locator('#item').dragTo(page.locator('#goal'), { timeout: 10_000 })",
  );
  assert.match(report, /intercepts pointer events/);
  assert.match(report, /Drag with the mouse[\s\S]*page\.mouse\.up\(\)/);
  assert.equal(await browser.live.page().locator("#layer").count(), 0, "the drag has ended");
  await run(
    "/drag",
    `const middle = async (selector) => {
      const { x, y, width, height } = await page.locator(selector).boundingBox();
      return [x + width / 2, y + height / 2];
    };
    await page.mouse.move(...(await middle("#item")));
    await page.mouse.down();
    await page.mouse.move(...(await middle("#goal")), { steps: 10 });
    await page.mouse.up();`,
  );
  assert.equal(await textOfOut(), "dropped");
});
