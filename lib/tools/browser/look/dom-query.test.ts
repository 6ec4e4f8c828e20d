import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { nastyPages, otherPages } from "../nasty-pages.ts";
import { callOf, startSite, startTestBrowser, type TestBrowser, textOf } from "../test-fixture.ts";
import { domQuery } from "./dom-query.ts";
import { createSnapshotBook } from "./snapshot-book.ts";

type Answer = {
  note: string;
  url: string;
  title: string;
  total: number;
  hint?: string;
  elements: {
    role: string;
    name: string;
    text?: string;
    selector: string;
    tag: string;
    value?: string;
    frame?: string;
    required?: boolean;
    disabled?: boolean;
    checked?: boolean;
    hidden?: boolean;
    href?: string;
    options?: string[];
    box: { x: number; y: number; width: number; height: number };
  }[];
};

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

async function query(input: object, path = "/"): Promise<Answer> {
  const page = browser.live.page();
  if (page.url() !== site.url + path) await page.goto(site.url + path);
  return JSON.parse(
    textOf(
      await domQuery({ browser: browser.service, snapshots: createSnapshotBook() }).execute(input, callOf()),
    ),
  );
}
const names = (answer: Answer) => answer.elements.map(({ role, name }) => `${role} ${name}`);

const CONTROLS = "h1, a[href], button, input, select, textarea, [tabindex]";

test("a selector finds elements in the frames and open shadow roots too", async () => {
  const answer = await query({ selector: CONTROLS });
  assert.deepEqual(names(answer), [
    "heading Checkout",
    "textbox Email",
    "textbox Password",
    "combobox Country",
    "checkbox Terms",
    "Date Delivery day",
    "textbox Note",
    "button Pay now",
    "link Terms of trade",
    "button Add",
    "button Add",
    "button Remove",
    "button Inner button",
    "textbox Card number",
  ]);
  assert.equal(answer.title, "Checkout");
  assert.match(answer.note, /data, not instructions/);
  assert.equal(answer.total, answer.elements.length);
});

test("each selector finds that element alone, in its own frame", async () => {
  const { elements } = await query({ selector: CONTROLS });
  for (const { selector, frame, tag, box } of elements) {
    let scope: ReturnType<ReturnType<TestBrowser["live"]["page"]>["frameLocator"]> | undefined;
    for (const part of frame?.split(" → ") ?? []) scope = (scope ?? browser.live.page()).frameLocator(part);
    const found = (scope ?? browser.live.page()).locator(selector);
    assert.equal(await found.count(), 1, selector);
    assert.equal(await found.evaluate((element) => element.localName), tag, selector);
    // Playwright leaves the iframe's own border out for frames of another process.
    const real = await found.boundingBox();
    assert.ok(
      real && Math.abs(real.x - box.x) <= 2 && Math.abs(real.y - box.y) <= 2,
      `${selector} ${JSON.stringify([real, box])}`,
    );
  }
});

test("state and values of form fields are told, passwords never", async () => {
  const answer = await query({ selector: "input, select, textarea, form button" });
  const byName = new Map(answer.elements.map((element) => [element.name, element]));
  assert.deepEqual([byName.get("Email")?.value, byName.get("Email")?.required], ["a@b.example", true]);
  assert.deepEqual(byName.get("Country")?.options, ["Austria", "Belgium"]);
  assert.equal(byName.get("Country")?.value, "Belgium");
  assert.equal(byName.get("Terms")?.checked, true);
  assert.equal(byName.get("Pay now")?.disabled, true);
  assert.equal(byName.get("Note")?.value, "Leave it at the door");
  assert.ok(!JSON.stringify(answer).includes("hunter2"));
  assert.ok(!JSON.stringify(await query({ selector: "*" })).includes("hunter2"));
});

test("filters combine: role, text, selector, frame", async () => {
  assert.deepEqual(names(await query({ role: "button", text: "add" })), ["button Add", "button Add"]);
  assert.deepEqual(names(await query({ selector: "#host >> x-inner >> button" })), [
    "button Add",
    "button Remove",
  ]);
  assert.deepEqual(names(await query({ frame: "#pay", role: "textbox" })), ["textbox Card number"]);
  assert.deepEqual(names(await query({ frame: "same", role: "button" })), ["button Inner button"]);
  assert.deepEqual(names(await query({ selector: "button", text: "inner" })), ["button Inner button"]);
});

test("text is found where it stands, not in everything around it", async () => {
  const { elements } = await query({ text: "pay nothing today" });
  assert.deepEqual(
    elements.map(({ tag, selector }) => [tag, selector]),
    [["p", "#intro"]],
  );
});

test("hidden elements are left out unless asked for", async () => {
  assert.equal((await query({ text: "Secret sale" })).total, 0);
  assert.equal((await query({ selector: "button.gone" })).total, 0);
  const [element] = (await query({ role: "button", text: "Secret sale", includeHidden: true })).elements;
  assert.deepEqual([element?.name, element?.hidden], ["Secret sale", true]);
  assert.equal((await query({ selector: "button.gone", includeHidden: true })).elements[0]?.hidden, true);
});

test("our overlay is never seen", async () => {
  for (const input of [
    { text: "Overlay" },
    { selector: "button" },
    { role: "button", includeHidden: true },
  ]) {
    assert.ok(!JSON.stringify((await query({ ...input, limit: 200 })).elements).includes("Overlay"));
  }
});

test("what is not there is answered with what comes closest", async () => {
  assert.match(
    (await query({ text: "Pay later" })).hint ?? "",
    /No visible element matches text "Pay later"; closest: button "Pay now"/,
  );
  assert.match((await query({ role: "button" }, "/plain")).hint ?? "", /nothing to act on/);
});

test("a wrong selector and an unknown frame are explained", async () => {
  await query({ role: "button" });
  const tool = domQuery({ browser: browser.service, snapshots: createSnapshotBook() });
  const wrong = await tool.execute({ selector: "text=Pay" }, callOf());
  assert.equal(wrong.isError, true);
  assert.match(textOf(wrong), /is not a CSS selector/);
  assert.match(
    textOf(await tool.execute({ frame: "nowhere" }, callOf())),
    /No frame "nowhere". Frames: main \(/,
  );
});

test("a strict policy and a page that breaks its own language change nothing", async () => {
  assert.deepEqual(names(await query({ selector: CONTROLS }, "/strict")), [
    "heading Strict heading",
    "button Strict button",
  ]);
  assert.deepEqual(names(await query({ selector: CONTROLS }, "/hostile")), ["button Real"]);
});

test("a page of 20,000 nodes is answered, cut at the limit", async () => {
  const answer = await query({ selector: "a, button", limit: 200 }, "/huge");
  assert.equal(answer.total, 5_001);
  assert.equal(answer.elements.length, 200);
  assert.equal((await query({ selector: "#last" }, "/huge")).elements[0]?.name, "Last");
});

test("a stop is honoured within a second while the page hangs", async () => {
  const page = browser.live.page();
  await page.goto(`${site.url}/plain`);
  page.evaluate("for (;;) {}").catch(() => {});
  const controller = new AbortController();
  const answered = domQuery({ browser: browser.service, snapshots: createSnapshotBook() }).execute(
    {},
    callOf(controller.signal),
  );
  setImmediate(() => controller.abort());
  const startedAt = performance.now();
  await assert.rejects(answered, /stopped/);
  assert.ok(performance.now() - startedAt < 1_000);
});
