import assert from "node:assert/strict";
import { test } from "node:test";
import type { PlacedPart } from "#lib/injected/overlay/overlay-state.ts";
import type { BrowserInput } from "../browser-service.ts";
import type { Devtools } from "../process/devtools-connection.ts";
import { EMPTY_COMMENT, editByKey, insertText } from "./comment-text.ts";
import { createFrameSessions } from "./locate/frame-sessions.ts";
import { createOverlayInput } from "./overlay-input.ts";
import { createOverlayModel, type PickedElement } from "./overlay-model.ts";

const at = { x: 0, y: 0, width: 10, height: 10 };
const picked: PickedElement = {
  at,
  page: { title: "Shop", url: "http://shop.test/" },
  description: { selector: "p", element: "p", text: "", boundingBox: at },
};
const press = (action: "down" | "up", x: number): BrowserInput => ({
  type: "mouse",
  action,
  x,
  y: 5,
  button: "left",
  clickCount: 1,
  modifiers: 0,
});

const NO_ACTIONS = {
  redraw() {},
  hover() {},
  pick: async () => {},
  submit() {},
  scrollList: async () => {},
  positionAt: async () => 0,
};

test("a comment has at most 10,000 units, and only whole characters", () => {
  const full = insertText(EMPTY_COMMENT, "x".repeat(9_999));
  assert.equal(insertText(full, "🐈").text.length, 9_999);
  assert.equal(insertText(full, "yz").text.length, 10_000);
  assert.equal(insertText({ ...full, anchor: 0 }, "🐈").text, "🐈");
  assert.equal(insertText(EMPTY_COMMENT, "a\r\nb\ud800").text, "a\nb\ufffd");
});

test("keys move by characters, words and lines, and extend the selection", () => {
  const text = "one two\n👩‍👩‍👧 four";
  const press = (caret: number, key: string, isFar = false, isSelecting = false, anchor = caret) =>
    editByKey({ text, anchor, caret }, key, { isFar, isSelecting });
  assert.deepEqual(press(8, "ArrowRight"), { text, anchor: 16, caret: 16 });
  assert.deepEqual(press(16, "Backspace")?.text, "one two\n four");
  assert.deepEqual(press(7, "ArrowLeft", true), { text, anchor: 4, caret: 4 });
  assert.deepEqual(press(4, "ArrowLeft", true, true), { text, anchor: 4, caret: 0 });
  assert.deepEqual(press(0, "ArrowLeft"), { text, anchor: 0, caret: 0 });
  assert.deepEqual(press(3, "Delete", false, false, 0)?.text, text.slice(3));
  assert.deepEqual(press(16, "ArrowUp")?.caret, 7);
  assert.deepEqual(press(7, "ArrowDown")?.caret, 15);
  assert.deepEqual(
    [press(3, "End")?.caret, press(3, "End", true)?.caret, press(10, "Home")?.caret],
    [7, 21, 8],
  );
  assert.equal(press(0, "Shift"), undefined);
});

test("a submission has at most 50 comments", () => {
  const model = createOverlayModel();
  for (let number = 0; number < 51; number += 1) {
    model.togglePicking();
    model.pick(picked);
    model.edit((comment) => insertText(comment, "Larger"));
    model.add();
  }
  const { rows, status } = model.read();
  assert.deepEqual([rows.length, status], [50, "A submission has at most 50 comments. Submit these first."]);
});

test("while an element is being found, 500 inputs wait, in their order", async () => {
  const model = createOverlayModel();
  const finding = Promise.withResolvers<void>();
  const input = createOverlayInput(
    { model, parts: () => [], drawing: () => undefined, isUsable: () => true },
    { ...NO_ACTIONS, pick: () => finding.promise },
  );
  const passed: BrowserInput[] = [];
  const pass = async (each: BrowserInput) => void passed.push(each);
  model.togglePicking();
  await input.push(press("down", 1), pass);
  const picking = input.push(press("up", 1), pass);
  const waiting = Array.from({ length: 600 }, (_, index) =>
    input.push({ type: "text", text: String(index) }, pass),
  );
  assert.equal(passed.length, 0);
  finding.resolve();
  await Promise.all([picking, ...waiting]);
  assert.deepEqual(
    passed.map((each) => "text" in each && each.text),
    Array.from({ length: 500 }, (_, index) => String(index)),
  );
});

test("a press waits until the overlay's parts are drawn, and then meets them", async () => {
  const model = createOverlayModel();
  const drawn = Promise.withResolvers<void>();
  let parts: PlacedPart[] = [];
  let drawing: Promise<void> | undefined = drawn.promise;
  const input = createOverlayInput(
    { model, parts: () => parts, drawing: () => drawing, isUsable: () => true },
    NO_ACTIONS,
  );
  const passed: BrowserInput[] = [];
  const pass = async (each: BrowserInput) => void passed.push(each);
  const clicks = [press("down", 1), press("up", 1), press("down", 20)].map((each) => input.push(each, pass));
  parts = [{ part: "pill", index: 0, ...at }];
  drawing = undefined;
  drawn.resolve();
  await Promise.all(clicks);
  assert.deepEqual([model.mode(), passed], ["picking", []]);
});

test("50 frames of a page have a session, until they lose it; the connection ends with them", async () => {
  let attached = 0;
  let ended = 0;
  let detach: (sessionId: string) => void = () => {};
  const open: Devtools["open"] = async () => ({
    send: (_, onAnswer) => onAnswer({ result: {} }),
    async ask() {
      attached += 1;
      return { sessionId: String(attached) };
    },
    isOpen: () => true,
    terminate() {
      ended += 1;
    },
    closed: new Promise(() => {}),
  });
  const sessions = createFrameSessions((timeoutMs, handlers) => {
    detach = (sessionId) => handlers.onEvent({ method: "Target.detachedFromTarget", params: { sessionId } });
    return open(timeoutMs, handlers);
  });
  for (let frame = 0; frame < 60; frame += 1) await sessions.open(String(frame));
  assert.ok(await sessions.open("49"));
  assert.deepEqual([attached, await sessions.open("50")], [50, undefined]);
  detach("3");
  assert.ok(await sessions.open("49"));
  assert.ok(await sessions.open("50"));
  assert.deepEqual([attached, await sessions.open("51")], [51, undefined]);
  sessions.close();
  await Promise.resolve();
  assert.equal(ended, 1);
});
