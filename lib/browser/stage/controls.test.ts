import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { findTestChromium, waitFor } from "../testing.ts";
import { openStageBench, type StageBench } from "./stage-testing.ts";

const SELECT = `<select class=c aria-label=Fruit><option>Apple<option disabled>Pear
  <optgroup label=Citrus><option value=l>Lemon<option>Lime</optgroup></select>`;
const FOLLOW = `<script nonce=own>follow(document.querySelector(".c"))</script>`;
const input = (attributes: string) => `<input class=c ${attributes}>${FOLLOW}`;

const PAGES: Record<string, string> = {
  "/select": SELECT + FOLLOW,
  "/frames": `<iframe src="http://localhost:PORT/select" width=400 height=200></iframe>`,
  "/shadow": `<x-open></x-open><script nonce=own>
    const root = document.querySelector("x-open").attachShadow({ mode: "open" });
    const inner = document.createElement("x-closed"); root.append(inner);
    const closed = inner.attachShadow({ mode: "closed" });
    const select = document.createElement("select");
    select.style.cssText = "position:absolute;left:20px;top:20px;width:200px;height:30px";
    for (const text of ["One", "Two"]) { const option = document.createElement("option"); option.text = text; select.append(option); }
    closed.append(select); follow(select);</script>`,
  "/prevented": `${SELECT}${FOLLOW}<script nonce=own>document.querySelector("select").onmousedown = (event) => { event.preventDefault(); seen.push("prevented"); }</script>`,
  "/date": input("type=date value=2026-01-02 min=2026-01-01"),
  "/time": input("type=time"),
  "/month": input("type=month"),
  "/week": input("type=week"),
  "/datetime-local": input("type=datetime-local"),
  "/color": input("type=color value=#00ff00"),
  "/script": `<button class=c>Open</button><select id=other><option>A<option>B</select>
    <script nonce=own>const other = document.querySelector("#other"); follow(other);
      document.querySelector("button").onclick = () => other.showPicker();</script>`,
  "/list": `${input("list=cities aria-label=City")}<datalist id=cities><option value=Bern><option value=Berlin label=Capital><option value=Rome></datalist>`,
};

// The strict policy forbids `page.waitForFunction`, except if its condition holds at once.
const isListClosed = () => !document.querySelector("select")?.matches(":open");

/** The events of a person's choice: the input event is composed, the change event is not, and both are trusted. */
const CHOSEN = (value: string, isTrusted = true) => [
  `input ${value} ${isTrusted}truetrue`,
  `change ${value} ${isTrusted}truefalse`,
];

for (const chromiumArgs of [[], ["--site-per-process"]])
  describe(`controls ${chromiumArgs}`, () => {
    let bench: StageBench;

    before(async () => {
      const chromium = findTestChromium();
      const args = [...(chromium.args ?? []), ...chromiumArgs];
      bench = await openStageBench(PAGES, { launch: { ...chromium, args } });
      bench.control.set("con_a");
    });
    after(() => bench.close());

    test("a select in a frame of another site", async () => {
      await bench.open("/frames");
      await bench.click(60, 40);
      const widget = await bench.widget("select");
      assert.deepEqual(widget.box, { x: 22, y: 22, width: 200, height: 30 });
      assert.deepEqual(await bench.answer(widget.id, { kind: "option", chosen: 3 }), { isDone: true });
      assert.deepEqual(await bench.seen("localhost"), CHOSEN("Lime"));
    });

    if (chromiumArgs.length > 0) return;

    test("a click on a select shows its options at its place, and the choice reaches the page as a person's", async () => {
      await bench.open("/select");
      await bench.click(60, 35);
      const widget = await bench.widget("select");
      assert.deepEqual(
        widget.options.map(({ label, group, isDisabled, isSelected }) => [
          label,
          group,
          isDisabled,
          isSelected,
        ]),
        [
          ["Apple", null, false, true],
          ["Pear", null, true, false],
          ["Lemon", "Citrus", false, false],
          ["Lime", "Citrus", false, false],
        ],
      );
      assert.deepEqual([widget.box, widget.label], [{ x: 20, y: 20, width: 200, height: 30 }, "Fruit"]);
      assert.deepEqual(await bench.answer(widget.id, { kind: "option", chosen: 1 }), {
        isDone: false,
        reason: "the control does not take this choice",
      });
      await bench.noWidget();
      await bench.click(60, 35);
      const again = await bench.widget("select");
      assert.deepEqual(await bench.answer(again.id, { kind: "option", chosen: 2 }), { isDone: true });
      assert.deepEqual(await bench.seen(), CHOSEN("l"));
      await bench.noWidget();
      assert.equal((await bench.answer(again.id, { kind: "option", chosen: 0 })).isDone, false);
    });

    test("a select in a closed shadow root inside an open one", async () => {
      await bench.open("/shadow");
      await bench.click(60, 35);
      const widget = await bench.widget("select");
      await bench.answer(widget.id, { kind: "option", chosen: 1 });
      assert.deepEqual(await bench.seen(), CHOSEN("Two"));
    });

    test("the keys that open a list show it, and a cancelled list leaves no trace in the page", async () => {
      const page = await bench.open("/select");
      await page.focus("select");
      for (const [key, modifiers] of [
        ["ArrowDown", 1],
        [" ", 0],
        ["Enter", 0],
      ] as const) {
        await bench.press(key, modifiers);
        const widget = await bench.widget("select");
        assert.deepEqual(await bench.answer(widget.id, { kind: "cancel" }), { isDone: true });
        await bench.noWidget();
        assert.equal(await page.evaluate(() => document.querySelector("select")?.matches(":open")), false);
      }
      assert.deepEqual(await bench.seen(), []);
    });

    test("a list that a script opens for a click is shown; one whose click the page prevents is not", async () => {
      await bench.open("/script");
      await bench.click(60, 35);
      const widget = await bench.widget("select");
      await bench.answer(widget.id, { kind: "option", chosen: 1 });
      assert.deepEqual(await bench.seen(), CHOSEN("B"));
      await bench.open("/prevented");
      await bench.click(60, 35);
      await waitFor(async () => (await bench.seen())?.includes("prevented"), "the click");
      await bench.browsers.act(bench.sessionId, { type: "stop" });
      assert.equal(bench.state()?.widget, null);
    });

    for (const [type, value] of [
      ["date", "2026-02-03"],
      ["time", "10:30"],
      ["month", "2026-02"],
      ["week", "2026-W05"],
      ["datetime-local", "2026-02-03T10:30"],
      ["color", "#ff0000"],
    ] as const)
      test(`the picker of a ${type} field is shown, and takes only a value of its type`, async () => {
        await bench.open(`/${type}`);
        await bench.click(type === "color" ? 60 : 209, 35);
        const widget = await bench.widget("picker");
        assert.equal(widget.type, type);
        if (type === "date") assert.deepEqual([widget.value, widget.min], ["2026-01-02", "2026-01-01"]);
        assert.deepEqual(await bench.answer(widget.id, { kind: "value", value }), { isDone: true });
        assert.deepEqual(await bench.seen(), CHOSEN(value, false));
        await bench.noWidget();
      });

    test("suggestions of a datalist follow what is typed, and are taken by a click", async () => {
      const page = await bench.open("/list");
      await bench.click(60, 35);
      const all = await bench.widget("suggestions");
      assert.deepEqual(
        all.options.map(({ value }) => value),
        ["Bern", "Berlin", "Rome"],
      );
      await bench.press("l");
      const widget = await bench.widgetThat(
        (each) => each.kind === "suggestions" && each.options.length === 1,
      );
      assert.deepEqual(await bench.answer(widget.id, { kind: "value", value: "Berlin" }), { isDone: true });
      assert.equal(await page.inputValue("input"), "Berlin");
    });

    test("without a person who has control, nothing is shown, and an open list is closed", async () => {
      const page = await bench.open("/select");
      await bench.click(60, 35);
      await bench.widget("select");
      bench.control.set(undefined);
      await bench.noWidget();
      await waitFor(() => page.evaluate(isListClosed), "a closed list");
      assert.deepEqual(await bench.seen(), []);
      bench.control.set("con_a");
    });

    test("a list that a person opens just before losing control is closed", async () => {
      const page = await bench.open("/select");
      await bench.click(60, 35);
      await waitFor(() => page.evaluate(() => document.querySelector("select")?.matches(":open")), "a list");
      bench.control.set(undefined);
      await waitFor(() => page.evaluate(isListClosed), "a closed list");
      assert.deepEqual(await bench.seen(), []);
      bench.control.set("con_a");
    });
  });
