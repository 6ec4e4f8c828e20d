import assert from "node:assert/strict";
import { test } from "node:test";
import { createHeldInput } from "./held-input.ts";

const press = (code: string, action: "down" | "up" = "down") =>
  ({ type: "key", action, key: code, code, modifiers: 0 }) as const;

test("a touch is cancelled, and a composition is removed", () => {
  const held = createHeldInput();
  held.record({ type: "touch", action: "start", points: [{ id: 0, x: 1, y: 2 }], modifiers: 0 });
  held.record({ type: "compose", text: "に", selectionStart: 1, selectionEnd: 1 });
  assert.deepEqual(held.releaseAll(), [
    { type: "touch", action: "cancel", points: [], modifiers: 0 },
    { type: "compose", text: "", selectionStart: 0, selectionEnd: 0 },
  ]);
  held.record({ type: "touch", action: "end", points: [], modifiers: 0 });
  held.record({ type: "compose", text: "に", selectionStart: 1, selectionEnd: 1 });
  held.record({ type: "text", text: "に" });
  assert.deepEqual(held.releaseAll(), []);
});

test("held keys are released once, and a program that presses keys without end does not fill the memory", () => {
  const held = createHeldInput();
  for (let index = 0; index < 10_000; index++) held.record(press(`Key${index}`));
  held.record(press("Key0", "up"));
  held.record(press("Shift"));
  const released = held.releaseAll();
  assert.equal(released.length, 32);
  assert.deepEqual(released[0], press("Key1", "up"));
  assert.deepEqual(released.at(-1), press("Shift", "up"));
  assert.deepEqual(held.releaseAll(), []);
});
