import assert from "node:assert/strict";
import { test } from "node:test";
import type { LiveClientFrame } from "#lib/page/state/view-types.ts";
import { createPageInput } from "./page-input.ts";

const NONE = { altKey: false, ctrlKey: false, metaKey: false, shiftKey: false };
const button = (number: number, more = {}) => ({ ...NONE, button: number, detail: 1, ...more });
const key = (name: string, more = {}) => ({ ...NONE, key: name, code: name, repeat: false, ...more });

/** Creates an input whose frames the test reads. A drawn frame comes when the test calls `draw`. */
function rig(isApple = false) {
  const sent: LiveClientFrame[] = [];
  const soon: (() => void)[] = [];
  const input = createPageInput((frame) => sent.push(frame), { isApple, soon: (later) => soon.push(later) });
  const take = () => sent.splice(0);
  return { input, take, draw: () => soon.splice(0).map((later) => later()) };
}

const summarize = (frames: LiveClientFrame[]) =>
  frames.map((frame) =>
    "action" in frame
      ? `${frame.type} ${frame.action} ${"key" in frame ? frame.key : ""}`.trim()
      : frame.type,
  );

test("moves of fingers wait for the next drawn frame, and come before a finger that leaves", () => {
  const { input, take, draw } = rig();
  input.touch("start", [{ id: 0, x: 1, y: 1 }]);
  input.touch("move", [{ id: 0, x: 2, y: 2 }]);
  input.touch("move", [{ id: 0, x: 3, y: 3 }]);
  draw();
  input.touch("move", [{ id: 0, x: 4, y: 4 }]);
  input.touch("end", []);
  const frames = take();
  assert.deepEqual(summarize(frames), [
    "input.touch start",
    "input.touch move",
    "input.touch move",
    "input.touch end",
  ]);
  assert.deepEqual(frames[1], {
    type: "input.touch",
    action: "move",
    points: [{ id: 0, x: 3, y: 3 }],
    modifiers: 0,
  });
});

test("everything that is pressed is released when the person leaves", () => {
  const { input, take } = rig();
  input.press({ x: 5, y: 6 }, button(0), "down");
  input.key(key("Shift"), "down");
  input.touch("start", [{ id: 0, x: 1, y: 1 }]);
  input.compose("に");
  take();
  input.release();
  assert.deepEqual(summarize(take()), [
    "input.mouse up",
    "input.key up Shift",
    "input.touch cancel",
    "input.compose",
  ]);
  input.release();
  assert.deepEqual(take(), []);
});

test("buttons that go back and forward, and releases of buttons that were pressed elsewhere, are not sent", () => {
  const { input, take } = rig();
  input.press({ x: 0, y: 0 }, button(3), "down");
  input.press({ x: 0, y: 0 }, button(0), "up");
  assert.deepEqual(take(), []);
});

test("on a Mac, keys with ⌘ are released at once, and a click with Control is the right button's", () => {
  const { input, take } = rig(true);
  input.key(key("z", { metaKey: true }), "down");
  assert.deepEqual(summarize(take()), ["input.key down z", "input.key up z"]);
  input.press({ x: 0, y: 0 }, button(0, { ctrlKey: true }), "down");
  input.press({ x: 0, y: 0 }, button(0), "up");
  assert.deepEqual(
    take().map((frame) => frame.type === "input.mouse" && frame.button),
    ["right", "right"],
  );
});

test("wheel turns in lines become pixels", () => {
  const { input, take, draw } = rig();
  input.wheel({ x: 0, y: 0 }, { ...button(0), deltaX: 0, deltaY: 3, deltaMode: 1 });
  draw();
  assert.equal((take()[0] as { deltaY?: number }).deltaY, 48);
});
