import assert from "node:assert/strict";
import { test } from "node:test";
import type { BrowserInput } from "../browser-service.ts";
import * as input from "./input.ts";
import type { InputCommand } from "./input-command.ts";

/** Creates a queue that passes all input. */
function createInputQueue(send: (command: InputCommand) => Promise<unknown>) {
  const queue = input.createInputQueue(send);
  return { push: (each: BrowserInput, mayPass = () => true) => queue.push(each, mayPass) };
}

const move = (x: number): BrowserInput => ({
  type: "mouse",
  action: "move",
  x,
  y: 0,
  button: "none",
  clickCount: 0,
  modifiers: 0,
});
const press = (action: "down" | "up", x: number): BrowserInput => ({
  type: "mouse",
  action,
  x,
  y: 0,
  button: "left",
  clickCount: 1,
  modifiers: 0,
});

/** Simulates a page that handles each event only when the test calls `takeAll`. */
function busyPage() {
  const sent: InputCommand[] = [];
  const waiting: (() => void)[] = [];
  const send = (command: InputCommand) => {
    sent.push(command);
    return new Promise<void>((resolve) => waiting.push(resolve));
  };
  const describeSent = () =>
    sent.map(({ params }) =>
      "x" in params ? `${params.type} ${params.x}` : "type" in params ? params.type : "",
    );
  return { send, sent, describeSent, takeAll: () => waiting.splice(0).map((resolve) => resolve()) };
}

test("mouse moves that pile up become one", async () => {
  const page = busyPage();
  const queue = createInputQueue(page.send);
  for (const x of [1, 2, 3, 4]) void queue.push(move(x));
  assert.deepEqual(page.describeSent(), ["mouseMoved 1"]);
  page.takeAll();
  await new Promise(setImmediate);
  assert.deepEqual(page.describeSent(), ["mouseMoved 1", "mouseMoved 4"]);
});

test("a click is never queued behind moves, and comes after the last position", () => {
  const page = busyPage();
  const queue = createInputQueue(page.send);
  for (const x of [1, 2, 3]) void queue.push(move(x));
  void queue.push(press("down", 3));
  void queue.push(press("up", 3));
  assert.deepEqual(page.describeSent(), [
    "mouseMoved 1",
    "mouseMoved 3",
    "mousePressed 3",
    "mouseReleased 3",
  ]);
});

test("moves of a drag include the pressed button", () => {
  const page = busyPage();
  const queue = createInputQueue(page.send);
  void queue.push(press("down", 1));
  void queue.push(move(2));
  assert.deepEqual(
    page.sent.map(({ params }) => "buttons" in params && [params.button, params.buttons]),
    [
      ["left", 1],
      ["left", 1],
    ],
  );
});

test("a drag begins with a move at its start, ends with one at its end, and later input waits for the release", async () => {
  const page = busyPage();
  const queue = createInputQueue(page.send);
  void queue.push(press("down", 1));
  for (const x of [2, 3, 4]) void queue.push(move(x));
  void queue.push(press("up", 4));
  void queue.push({ type: "text", text: "x" });
  void queue.push(move(9));
  const handled: string[][] = [];
  for (let round = 0; round < 6; round += 1) {
    handled.push(page.describeSent());
    page.takeAll();
    await new Promise(setImmediate);
  }
  const dragged = ["mousePressed 1", "mouseMoved 1"];
  const ended = [...dragged, "mouseMoved 4", "mouseMoved 4", "mouseReleased 4"];
  assert.deepEqual(handled, [
    dragged,
    ended.slice(0, 3),
    ended.slice(0, 4),
    ended,
    [...ended, "", "mouseMoved 9"],
    [...ended, "", "mouseMoved 9"],
  ]);
});

test("input that waits for the end of a drag is dropped if its person has lost control, and keeps its order", async () => {
  const page = busyPage();
  const queue = createInputQueue(page.send);
  let hasControl = true;
  void queue.push(press("down", 1));
  void queue.push(move(2));
  void queue.push(press("up", 2));
  void queue.push(press("down", 66), () => hasControl);
  for (const each of [press("down", 5), move(6), press("up", 6), press("down", 7)]) void queue.push(each);
  hasControl = false;
  for (let round = 0; round < 12; round += 1) {
    page.takeAll();
    await new Promise(setImmediate);
  }
  assert.deepEqual(page.describeSent(), [
    ...["mousePressed 1", "mouseMoved 1", "mouseMoved 2", "mouseMoved 2", "mouseReleased 2"],
    ...[
      "mousePressed 5",
      "mouseMoved 5",
      "mouseMoved 6",
      "mouseMoved 6",
      "mouseReleased 6",
      "mousePressed 7",
    ],
  ]);
});

test("the release at the end of a drag waits a second at most for a page that does not answer", async () => {
  const page = busyPage();
  const queue = createInputQueue(page.send);
  void queue.push(press("down", 1));
  for (const x of [2, 3]) void queue.push(move(x));
  void queue.push(press("up", 3));
  await new Promise((done) => setTimeout(done, 1_100));
  assert.deepEqual(page.describeSent(), [
    "mousePressed 1",
    "mouseMoved 1",
    "mouseMoved 3",
    "mouseReleased 3",
  ]);
});

test("moves of fingers that pile up become one, before a finger that leaves", () => {
  const page = busyPage();
  const queue = createInputQueue(page.send);
  const touch = (action: "start" | "move" | "end", ...xs: number[]) =>
    void queue.push({ type: "touch", action, modifiers: 0, points: xs.map((x, id) => ({ id, x, y: 0 })) });
  touch("start", 1);
  for (const x of [2, 3, 4]) touch("move", x);
  touch("end");
  assert.deepEqual(
    page.sent.map(({ params }) => "touchPoints" in params && params.touchPoints.map(({ x }) => x)),
    [[1], [2], [4], []],
  );
});

test("wheel turns that pile up are added up", async () => {
  const page = busyPage();
  const queue = createInputQueue(page.send);
  for (const deltaY of [10, 20, 30])
    void queue.push({ type: "wheel", x: 0, y: 0, deltaX: 1, deltaY, modifiers: 0 });
  page.takeAll();
  await new Promise(setImmediate);
  assert.deepEqual(
    page.sent.map(({ params }) => (params as { deltaY?: number }).deltaY),
    [10, 50],
  );
});

test("a printable key types its text, an editing key and a shortcut do not", () => {
  const page = busyPage();
  const queue = createInputQueue(page.send);
  const key = (name: string, code: string, modifiers = 0) =>
    void queue.push({ type: "key", action: "down", key: name, code, modifiers });
  key("a", "KeyA");
  key("Backspace", "Backspace");
  key("a", "KeyA", 2);
  key("Enter", "Enter");
  const shown = page.sent.map(({ params }) => {
    const { type, text, windowsVirtualKeyCode } = params as {
      type: string;
      text?: string;
      windowsVirtualKeyCode: number;
    };
    return [type, text, windowsVirtualKeyCode];
  });
  assert.deepEqual(shown, [
    ["keyDown", "a", 65],
    ["rawKeyDown", undefined, 8],
    ["rawKeyDown", undefined, 65],
    ["keyDown", "\r", 13],
  ]);
});

test("pasted text is inserted unchanged", () => {
  const page = busyPage();
  void createInputQueue(page.send).push({ type: "paste", text: "two\nlines" });
  assert.deepEqual(page.sent, [{ method: "Input.insertText", params: { text: "two\nlines" } }]);
});

test("a page that does not answer gets a limited number of events, and new ones once it has caught up", async () => {
  const { send, sent, takeAll } = busyPage();
  const queue = createInputQueue(send);
  const typed = Array.from({ length: 2_000 }, () => queue.push({ type: "text", text: "x" }));
  assert.equal(sent.length, 500);
  takeAll();
  await Promise.all(typed);
  void queue.push({ type: "text", text: "y" });
  assert.equal(sent.length, 501);
});
