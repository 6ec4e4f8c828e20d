import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { nastyPages, otherPages } from "../nasty-pages.ts";
import { callOf, startSite, startTestBrowser, type TestBrowser, textOf } from "../test-fixture.ts";
import { domQuery } from "./dom-query.ts";
import { createSnapshotBook } from "./snapshot-book.ts";

/**
 * One line of the tool's answer. `line` is the whole line, and `what` is the text before the element's ref, which is in
 * square brackets. `selector`, `frame` and `box` are parsed from the line.
 */
type Line = { what: string; line: string; selector: string; frame: string | undefined; box: number[] };

let browser: TestBrowser;
let site: Awaited<ReturnType<typeof startSite>>;
let other: Awaited<ReturnType<typeof startSite>>;

before(async () => {
  other = await startSite(otherPages);
  site = await startSite(nastyPages(`http://localhost:${other.port}`));
  browser = await startTestBrowser();
});
after(async () => {
  await Promise.all([browser?.close(), site?.close(), other?.close()]);
});

async function ask(input: object, path = "/"): Promise<string> {
  const page = browser.live.page();
  if (page.url() !== site.url + path) await page.goto(site.url + path);
  const tool = domQuery({ browser: browser.service, snapshots: createSnapshotBook() });
  return textOf(await tool.execute(input, callOf()));
}

async function query(input: object, path = "/"): Promise<Line[]> {
  const [, ...lines] = (/<(data-\w+)>\n(.*)\n<\/\1>/s.exec(await ask(input, path))?.[2] ?? "").split("\n");
  const quoted = (line: string, field: string): string | undefined => {
    const found = new RegExp(` ${field} ("(?:[^"\\\\]|\\\\.)*")`).exec(line)?.[1];
    return found === undefined ? undefined : JSON.parse(found);
  };
  return lines.map((line) => ({
    what: line.split(" [")[0] ?? "",
    line,
    selector: quoted(line, "selector") ?? "",
    frame: quoted(line, "frame"),
    box: (/ box (-?\d+),(-?\d+) (\d+)×(\d+)/.exec(line) ?? []).slice(1).map(Number),
  }));
}
const elementsOf = (lines: Line[]) => lines.map(({ what }) => what);

const CONTROLS = "h1, a[href], button, input, select, textarea, [tabindex]";

test("a selector finds elements in the frames and open shadow roots too", async () => {
  assert.deepEqual(elementsOf(await query({ selector: CONTROLS })), [
    'heading 1 "Checkout"',
    'textbox "Email"',
    'textbox "Password"',
    'combobox "Country"',
    'checkbox "Terms"',
    'textbox "Delivery day"',
    'textbox "Note"',
    'button "Pay now"',
    'link "Terms of trade"',
    'button "Add"',
    'button "Add"',
    'button "Remove"',
    'button "Inner button"',
    'textbox "Card number"',
  ]);
  assert.match(
    await ask({ selector: CONTROLS }),
    /^14 elements match\. What stands between the two marks is data from /,
  );
});

test("each selector in the answer matches only its own element, in its own frame", async () => {
  for (const { selector, frame, box } of await query({ selector: CONTROLS })) {
    let scope: ReturnType<ReturnType<TestBrowser["live"]["page"]>["frameLocator"]> | undefined;
    for (const part of frame?.split(" → ") ?? []) scope = (scope ?? browser.live.page()).frameLocator(part);
    const found = (scope ?? browser.live.page()).locator(selector);
    assert.equal(await found.count(), 1, selector);
    // For a frame that runs in another process, Playwright's box ignores the border of the iframe, so 2 px of
    // difference are allowed.
    const real = await found.boundingBox();
    const [x = 0, y = 0] = box;
    assert.ok(
      real && Math.abs(real.x - x) <= 2 && Math.abs(real.y - y) <= 2,
      `${selector} ${JSON.stringify([real, box])}`,
    );
  }
});

test("states and values of form fields are shown, passwords never", async () => {
  const lines = await query({ selector: "input, select, textarea, form button" });
  const stateOf = (what: string) =>
    lines.find((each) => each.what === what)?.line.replace(/^.*?\[\w+\] ?| ?selector .*/g, "");
  assert.equal(stateOf('textbox "Email"'), 'required value "a@b.example"');
  assert.equal(stateOf('textbox "Password"'), 'type password value "•••"');
  assert.equal(stateOf('combobox "Country"'), 'value "Belgium" options "Austria", "Belgium"');
  assert.equal(stateOf('checkbox "Terms"'), "checked");
  assert.equal(stateOf('button "Pay now"'), "disabled");
  assert.equal(stateOf('textbox "Note"'), 'value "Leave it at the door"');
  for (const input of [
    { selector: "*" },
    { selector: "[name=pass]", attributes: ["value"] },
    { text: "hunter2" },
  ])
    assert.doesNotMatch((await ask(input)).replace('text "hunter2"', ""), /hunter2/);
});

test("filters combine: role, text, selector, frame", async () => {
  assert.deepEqual(elementsOf(await query({ role: "button", text: "add" })), [
    'button "Add"',
    'button "Add"',
  ]);
  assert.deepEqual(elementsOf(await query({ selector: "#host >> x-inner >> button" })), [
    'button "Add"',
    'button "Remove"',
  ]);
  assert.deepEqual(elementsOf(await query({ frame: "#pay", role: "textbox" })), ['textbox "Card number"']);
  assert.deepEqual(elementsOf(await query({ frame: "same", role: "button" })), ['button "Inner button"']);
  assert.deepEqual(elementsOf(await query({ selector: "button", text: "inner" })), ['button "Inner button"']);
  assert.deepEqual(elementsOf(await query({ role: "image" })), ['img "A red shoe"']);
});

test("requested attributes are shown, with absolute addresses", async () => {
  const [link] = await query({ role: "link", attributes: ["href", "class"] });
  assert.match(link?.line ?? "", new RegExp(` href "${site.url}/next\\?x=1" selector `));
  assert.match(
    await ask({ attributes: ["href"] }),
    new RegExp(`link "Terms of trade" \\[\\w+\\] href "${site.url}/next`),
  );
});

test("text is found in the innermost element, not in its ancestors", async () => {
  const lines = await query({ text: "pay nothing today" });
  assert.deepEqual(
    lines.map(({ what, selector, line }) => [what, selector, line.includes('text "Pay nothing today"')]),
    [["paragraph", "#intro", true]],
  );
  assert.deepEqual(elementsOf(await query({ text: "terms of" })), ['link "Terms of trade"']);
});

test("hidden elements are left out unless asked for", async () => {
  assert.match(await ask({ text: "Secret sale" }), /^No visible element matches text "Secret sale"\./);
  assert.match(await ask({ selector: "button.gone" }), /^No visible element/);
  const [element] = await query({ role: "button", text: "Secret sale", includeHidden: true });
  assert.match(element?.line ?? "", /^button "Secret sale" .* hidden$/);
  assert.match((await query({ selector: "button.gone", includeHidden: true }))[0]?.line ?? "", / hidden$/);
});

test("the overlay is never shown", async () => {
  for (const input of [
    { text: "Overlay" },
    { selector: "button" },
    { role: "button", includeHidden: true },
    {},
  ])
    assert.doesNotMatch(await ask({ ...input, limit: 200 }), /"Overlay button"/);
});

test("a query without matches is answered with the closest elements", async () => {
  assert.match(
    await ask({ text: "Pay later" }),
    /No visible element matches text "Pay later"\. Closest: [\s\S]*button "Pay now"/,
  );
  assert.match(await ask({ role: "button" }, "/plain"), /The page has nothing to act on yet\.$/);
});

test("a wrong selector, a wrong attribute and an unknown frame are explained", async () => {
  await query({ role: "button" });
  const tool = domQuery({ browser: browser.service, snapshots: createSnapshotBook() });
  const wrong = await tool.execute({ selector: "text=Pay" }, callOf());
  assert.equal(wrong.isError, true);
  assert.match(textOf(wrong), /is not a CSS selector/);
  await assert.rejects(tool.execute({ attributes: ["a b"] }, callOf()), /attributes/);
  assert.match(
    textOf(await tool.execute({ frame: "nowhere" }, callOf())),
    /No frame "nowhere"\. What stands[^\n]*\n<(data-\w+)>\nFrames: main \([\s\S]*\n<\/\1>$/,
  );
});

test("a strict content security policy and a page that breaks built-in functions change nothing", async () => {
  assert.deepEqual(elementsOf(await query({ selector: CONTROLS }, "/strict")), [
    'heading 1 "Strict heading"',
    'button "Strict button"',
  ]);
  assert.deepEqual(elementsOf(await query({ selector: CONTROLS }, "/hostile")), ['button "Real"']);
});

test("a page of 20,000 nodes is read, and cut at the limit", async () => {
  assert.match(
    await ask({ selector: "a, button", limit: 200 }, "/huge"),
    /^5001 elements match, the first 200 shown\./,
  );
  assert.deepEqual(elementsOf(await query({ selector: "#last" }, "/huge")), ['button "Last"']);
  assert.deepEqual(elementsOf(await query({ text: "last" }, "/huge")), ['button "Last"']);
});

test("a stop is honoured while the page hangs", async () => {
  const page = browser.live.page();
  await page.goto(`${site.url}/plain`);
  page.evaluate("for (;;) {}").catch(() => {});
  const controller = new AbortController();
  const answered = domQuery({ browser: browser.service, snapshots: createSnapshotBook() }).execute(
    {},
    callOf(controller.signal),
  );
  setImmediate(() => controller.abort());
  await assert.rejects(answered, /stopped/);
});
