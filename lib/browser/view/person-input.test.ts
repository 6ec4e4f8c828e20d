import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { waitFor } from "../testing.ts";
import { openInputRig } from "./input-testing.ts";

let rig: Awaited<ReturnType<typeof openInputRig>>;
before(async () => {
  rig = await openInputRig();
});
after(() => rig.close());
beforeEach(() => rig.open());

describe("the mouse", () => {
  test("selects text by dragging, and words and lines by double and triple clicks", async () => {
    await rig.drag({ x: 21, y: 32 }, { x: 21 + 12 * 5, y: 32 });
    assert.equal(await rig.read("getSelection().toString()"), "hello");
    const at = { x: 130, y: 32 };
    await rig.click(at);
    await rig.click(at, "left", 2);
    assert.equal(await rig.read("getSelection().toString().trim()"), "selectable");
    await rig.click(at, "left", 3);
    assert.equal(await rig.read("getSelection().toString().trim()"), "hello selectable words");
    const clicks = (await rig.takeLog()).filter((entry) => /click/.test(entry));
    assert.deepEqual(clicks.slice(-4), ["click 0/1", "click 0/2", "dblclick 0/2", "click 0/3"]);
  });

  test("moves a slider", async () => {
    await rig.drag({ x: 30, y: 90 }, { x: 170, y: 90 });
    const value = Number(await rig.read("document.getElementById('slider').value"));
    assert.ok(value > 45 && value < 55, String(value));
  });

  test("drags an item and drops it, and works as usual afterwards", async () => {
    await rig.drag({ x: 50, y: 160 }, { x: 350, y: 170 });
    await waitFor(
      async () => (await rig.read<string[]>("log")).some((entry) => entry.startsWith("drop")),
      "the drop",
    );
    const dragged = (await rig.takeLog()).filter((entry) => /^d(ragstart|rop)/.test(entry));
    assert.deepEqual(dragged, ["dragstart source", "drop target: item of source"]);
    await rig.click({ x: 60, y: 260 });
    assert.deepEqual(await rig.takeLog(), ["click 0/1"]);
  });

  test("a drag, and a click directly after it, arrive when all of it is sent at once", async () => {
    const at = { x: 60, y: 260 };
    const from = { x: 50, y: 160 };
    const to = { x: 350, y: 170 };
    for (let round = 0; round < 12; round += 1) {
      await rig.open(round % 2 === 0 ? "/" : "/frame");
      const drag = [rig.mouse("move", from), rig.mouse("down", from), rig.mouse("move", to)];
      const click = [rig.mouse("move", at), rig.mouse("down", at), rig.mouse("up", at)];
      await Promise.all([...drag, rig.mouse("up", to), ...click].map((input) => rig.send(input)));
      const isLogged = async () => (await rig.read<string[]>("log")).includes("click 0/1");
      await waitFor(isLogged, `the click of round ${round}`);
      const log = (await rig.takeLog()).filter((entry) => /^(dragstart|drop|click)/.test(entry));
      assert.deepEqual(log, ["dragstart source", "drop target: item of source", "click 0/1"]);
    }
  });

  test("moves items of libraries that work with pointer events", async () => {
    await rig.drag({ x: 520, y: 40 }, { x: 600, y: 80 }, 2);
    const moves = (await rig.takeLog()).filter((entry) => entry.startsWith("pointer"));
    const changes = moves.filter((entry, at) => entry !== moves[at - 1]);
    assert.deepEqual(changes, [
      "pointermove mouse 0",
      "pointerdown mouse 1",
      "pointermove mouse 1",
      "pointerup mouse 0",
    ]);
  });

  test("the right and the middle button reach the page's handlers", async () => {
    await rig.click({ x: 520, y: 40 }, "right");
    await rig.click({ x: 520, y: 40 }, "middle");
    const clicks = (await rig.takeLog()).filter((entry) => /auxclick|contextmenu/.test(entry));
    assert.deepEqual(clicks.sort(), ["auxclick 1/1", "auxclick 2/1", "contextmenu 2/0"]);
  });
});

describe("the keyboard", () => {
  const press = (key: string, modifiers = 0, more = {}) =>
    rig.send(
      { type: "key", action: "down", key, code: "", modifiers, ...more },
      { type: "key", action: "up", key, code: "", modifiers },
    );
  const write = (text: string) => rig.read(`field.focus(); field.value = ${JSON.stringify(text)}; undefined`);

  test("undoes and redoes, and deletes to the beginning of the line by a command", async () => {
    await rig.click({ x: 60, y: 260 });
    await rig.send({ type: "text", text: "one two" });
    await press("z", 2);
    assert.equal(await rig.read("field.value"), "");
    await press("Z", 2 | 8);
    assert.equal(await rig.read("field.value"), "one two");
    await write("first\nsecond line");
    await press("Backspace", 0, { commands: ["DeleteToBeginningOfLine"] });
    assert.equal(await rig.read("field.value"), "first\n");
  });

  test("types characters of AltGr, and says that a key is held", async () => {
    await write("");
    await rig.takeLog();
    await rig.send(
      { type: "key", action: "down", key: "@", code: "KeyQ", modifiers: 0, text: "@" },
      { type: "key", action: "down", key: "@", code: "KeyQ", modifiers: 0, text: "@", isRepeat: true },
      { type: "key", action: "up", key: "@", code: "KeyQ", modifiers: 0 },
    );
    assert.equal(await rig.read("field.value"), "@@");
    assert.deepEqual(await rig.takeLog(), ["keydown @", "keydown @ again", "keyup @"]);
  });

  test("shows what an input method composes, and replaces it with the text", async () => {
    await write("");
    await rig.takeLog();
    const compose = (text: string) =>
      rig.send({ type: "compose", text, selectionStart: text.length, selectionEnd: text.length });
    await compose("に");
    await compose("にほん");
    assert.equal(await rig.read("field.value"), "にほん");
    await rig.send({ type: "text", text: "日本" });
    assert.equal(await rig.read("field.value"), "日本");
    const composed = await rig.takeLog();
    assert.equal(composed[0], "compositionstart");
    assert.ok(composed.includes("compositionupdate にほん"), composed.join());
    assert.equal(composed.at(-1), "compositionend 日本");
    await compose("x");
    await compose("");
    assert.equal(await rig.read("field.value"), "日本");
  });
});
