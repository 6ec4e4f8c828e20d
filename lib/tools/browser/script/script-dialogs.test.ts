import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  insertTestSession,
  openTestBrowsers,
  startTestSite,
  type TestBrowsers,
} from "#lib/browser/testing.ts";
import { createSnapshotBook } from "../read/snapshot-book.ts";
import { callOf, createTestControl, createTestSandbox, textOf } from "../test-fixture.ts";
import { browserExecute } from "./browser-execute.ts";
import { createScriptRunner, type ScriptRunner } from "./script-runner.ts";
import { workspaceFiles } from "./workspace-files.ts";

let site: Awaited<ReturnType<typeof startTestSite>>;
let harness: TestBrowsers;
let scripts: ScriptRunner;
let sessionId: string;

before(async () => {
  site = await startTestSite((_request, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end("<title>Shop</title>");
  });
  harness = await openTestBrowsers([`127.0.0.1:${site.port}`], { dialogTimeoutMs: 2_000 });
  scripts = await createScriptRunner({ logger: { warn: () => {} } });
  sessionId = await insertTestSession(harness.db);
  await harness.browsers.navigate(sessionId, `${site.origin}/`);
});
after(async () => {
  await scripts.close();
  await harness.close();
  await site.close();
});

/** Runs a script as the agent does. @returns the text of the tool's result. */
async function run(script: string): Promise<string> {
  const tool = browserExecute({
    browser: harness.browsers,
    control: createTestControl(),
    scripts,
    files: workspaceFiles(createTestSandbox()),
    scriptHelpers: () => ({}),
    snapshots: createSnapshotBook(),
  });
  return textOf(await tool.execute({ script, timeoutMs: 60_000 }, callOf(undefined, sessionId)));
}

/** Script code that makes the page open twenty dialogs, one after the other, and returns the answers to them. */
const askTwenty =
  "page.evaluate(() => Array.from({ length: 10 }, (_, n) => [prompt('name ' + n), confirm('sure?')]))";

test("the answers of a script's own listener win every time", async () => {
  const text = await run(`
    page.on('dialog', (dialog) => dialog.accept('Ada'));
    const answers = await ${askTwenty};
    return answers.filter(([name, sure]) => name === 'Ada' && sure).length;`);
  assert.match(text, /Result: 10\n/);
  assert.equal(text.match(/- Dialog: .* by the script\./g)?.length, 8);
  assert.match(text, /\n- 12 more dialogs\./);
});

test("a slow listener is waited for, and may dismiss", async () => {
  const text = await run(`
    page.on('dialog', async (dialog) => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      await (dialog.message() === 'yes?' ? dialog.accept() : dialog.dismiss());
    });
    return page.evaluate(() => [confirm('yes?'), confirm('no?')]);`);
  assert.match(text, /Result: \[\s*true,\s*false\s*\]/);
});

test("page.once and waitForEvent take one dialog; the next one is dismissed", async () => {
  const text = await run(`
    page.once('dialog', (dialog) => dialog.accept());
    const first = await page.evaluate(() => [confirm('one'), confirm('two')]);
    const [dialog] = await Promise.all([
      page.waitForEvent('dialog').then(async (dialog) => (await dialog.accept('three!'), dialog)),
      page.evaluate(() => { globalThis.third = prompt('three'); }),
    ]);
    return [...first, dialog.message(), await page.evaluate(() => globalThis.third)];`);
  assert.match(text, /Result: \[\s*true,\s*false,\s*"three",\s*"three!"\s*\]/);
  assert.deepEqual(text.match(/- Dialog: .*/g), [
    '- Dialog: confirm "one" was accepted by the script.',
    '- Dialog: confirm "two" was dismissed by default: the script did not listen for it.',
    '- Dialog: prompt "three" was accepted with "three!" by the script.',
  ]);
});

test("a removed listener no longer answers, and a listener of the context does", async () => {
  const text = await run(`
    const listener = (dialog) => dialog.accept();
    page.on('dialog', listener);
    page.off('dialog', listener);
    const off = await page.evaluate(() => confirm('off'));
    context.on('dialog', listener);
    return [off, await page.evaluate(() => confirm('on'))];`);
  assert.match(text, /Result: \[\s*false,\s*true\s*\]/);
});

test("without a listener a dialog is dismissed immediately, and the report names it", async () => {
  const text = await run(
    `return page.evaluate(() => [alert('Saved'), confirm('Delete it?'), prompt('Why?')])`,
  );
  assert.match(text, /Result: \[\s*null,\s*false,\s*null\s*\]/);
  const how = "was dismissed by default: the script did not listen for it.";
  assert.deepEqual(text.match(/- Dialog: .*/g), [
    `- Dialog: alert "Saved" ${how}`,
    `- Dialog: confirm "Delete it?" ${how}`,
    `- Dialog: prompt "Why?" ${how}`,
  ]);
});

test("the report of a failing script names the dialogs, too", async () => {
  const text = await run(`await page.evaluate(() => alert('Out of stock')); throw new Error('no luck')`);
  assert.match(text, /\nError: no luck\n[\s\S]*- Dialog: alert "Out of stock" was dismissed by default/);
});

test("a dialog whose listener never answers is dismissed after a while, and the page continues", async () => {
  const text = await run(`page.on('dialog', () => {}); return page.evaluate(() => confirm('Forgotten?'))`);
  assert.match(text, /Result: false/);
  assert.match(
    text,
    /- Dialog: confirm "Forgotten\?" was dismissed by default: the script's listener did not answer it in time\./,
  );
});

test("a dialog that a script leaves open is dismissed when the script ends, and the page stays usable", async () => {
  const left = await run(`
    const opened = page.waitForEvent('dialog');
    await page.evaluate(() => void setTimeout(() => { globalThis.answer = confirm('Left open?'); }));
    return (await opened).message();`);
  assert.match(left, /Result: Left open\?/);
  assert.match(
    left,
    /- Dialog: confirm "Left open\?" was dismissed by default: the script's listener did not/,
  );
  assert.match(await run("return page.evaluate(() => globalThis.answer)"), /Result: false/);
});

test("a beforeunload dialog does not stop a navigation", async () => {
  const text = await run(`
    await page.evaluate(() => { addEventListener('beforeunload', (event) => event.preventDefault()); });
    await page.mouse.click(5, 5);
    await page.goto('${site.origin}/next');
    return page.url();`);
  assert.match(text, /Result: \S+\/next\n/);
});
