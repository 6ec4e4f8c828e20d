import assert from "node:assert/strict";
import { test } from "node:test";
import { placeAtControl } from "./place-at-control.ts";

const page = { width: 1280, height: 800 };
const wide = {
  page,
  room: { width: 700, height: 500 },
  shown: { left: 30, top: 50, width: 640, height: 400 },
};

test("a list is below its control, or above it if there is more room", () => {
  const control = { x: 100, y: 100, width: 600, height: 40 };
  assert.deepEqual(placeAtControl(control, wide), { left: 80, top: 120, width: 300, height: 340 });
  assert.deepEqual(placeAtControl({ ...control, y: 700 }, wide), {
    left: 80,
    top: 60,
    width: 300,
    height: 340,
  });
});

test("a list stays inside a room that is small, and is wide enough to be read", () => {
  const room = { width: 340, height: 260 };
  const small = { page, room, shown: { left: 0, top: 24, width: 340, height: 212 } };
  for (const x of [0, 600, 1_200])
    for (const y of [0, 400, 780]) {
      const place = placeAtControl({ x, y, width: 80, height: 20 }, small);
      assert.ok(place.width >= 200 && place.height >= 100, JSON.stringify(place));
      assert.ok(place.left >= 0 && place.left + place.width <= room.width, JSON.stringify(place));
      assert.ok(place.top >= 0 && place.top + place.height <= room.height, JSON.stringify(place));
    }
});
