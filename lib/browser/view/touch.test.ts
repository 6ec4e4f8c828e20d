import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { ScreencastFrame } from "../browser-service.ts";
import { waitFor } from "../testing.ts";
import { openInputRig } from "./input-testing.ts";

type Finger = { x: number; y: number };

let rig: Awaited<ReturnType<typeof openInputRig>>;
before(async () => {
  rig = await openInputRig();
});
after(() => rig.close());
beforeEach(() => rig.open());

const touch = (action: "start" | "move" | "end" | "cancel", ...fingers: Finger[]) =>
  rig.send({ type: "touch", action, modifiers: 0, points: fingers.map((finger, id) => ({ id, ...finger })) });

/** Waits until the page has stopped moving after a swipe: a tap before that only stops it. */
async function untilStill(): Promise<void> {
  let last: number | undefined;
  await waitFor(async () => {
    const before = last;
    last = Number(await rig.read("scrollY"));
    await pause(200);
    return last === before;
  }, "the page to stop");
}

test("a swipe scrolls the page", async () => {
  await touch("start", { x: 900, y: 600 });
  for (let y = 580; y >= 300; y -= 20) await touch("move", { x: 900, y });
  await touch("end");
  await waitFor(async () => Number(await rig.read("scrollY")) > 200, "the page to scroll");
  await untilStill();
});

test("a swipe also scrolls a page with the size and the sharpness of a phone", async () => {
  await rig.browsers.setViewport(rig.sessionId, { size: { width: 374, height: 460 }, scale: 1.5 });
  await touch("start", { x: 187, y: 400 });
  for (let y = 390; y >= 100; y -= 10) await touch("move", { x: 187, y });
  await touch("end");
  await waitFor(async () => Number(await rig.read("scrollY")) > 150, "the page to scroll");
  await untilStill();
  await rig.browsers.setViewport(rig.sessionId, { size: { width: 1280, height: 800 }, scale: 1 });
});

test("a tap clicks and focuses", async () => {
  // A finger that stays for long opens the menu instead.
  await Promise.all([touch("start", { x: 60, y: 260 }), touch("end")]);
  await waitFor(async () => (await rig.read<string[]>("log")).includes("click 0/1"), "the click");
  assert.deepEqual((await rig.takeLog()).slice(0, 2), ["touchstart 1", "touchend 0"]);
  assert.equal(await rig.read("document.activeElement.id"), "field");
});

test("a right click while a finger is down opens the page's context menu, and the finger then clicks nothing", async () => {
  await touch("start", { x: 520, y: 40 });
  await rig.send(rig.mouse("down", { x: 520, y: 40 }, "right"), rig.mouse("up", { x: 520, y: 40 }, "right"));
  await touch("cancel");
  await rig.click({ x: 60, y: 260 });
  const seen = (await rig.takeLog()).filter((entry) => /^(touch|click|contextmenu)/.test(entry));
  assert.deepEqual(seen, ["touchstart 1", "contextmenu 2/0", "touchcancel 0", "click 0/1"]);
});

test("a finger moves items of libraries that work with pointer events", async () => {
  await touch("start", { x: 520, y: 40 });
  await touch("move", { x: 560, y: 60 });
  await touch("end");
  const moves = (await rig.takeLog()).filter((entry) => entry.startsWith("pointer"));
  assert.deepEqual(moves, ["pointerdown touch 1", "pointermove touch 1", "pointerup touch 0"]);
});

test("two fingers zoom the page, and a click then meets what the picture shows", async () => {
  const frames: ScreencastFrame[] = [];
  const stop = rig.browsers.watch(rig.sessionId, { onFrame: (frame) => frames.push(frame) });
  // Fingers do not wait for the page. It zooms while it gets the moves, which belong to the zoom of a picture before.
  await Promise.all([
    touch("start", { x: 600, y: 400 }),
    touch("start", { x: 600, y: 400 }, { x: 640, y: 400 }),
    ...Array.from({ length: 10 }, (_, step) =>
      touch("move", { x: 580 - 20 * step, y: 400 }, { x: 660 + 20 * step, y: 400 }),
    ),
    touch("end"),
  ]);
  // The page zooms for a while after the fingers have left.
  let last = 0;
  const zoom = await waitFor(async () => {
    const before = last;
    last = Number(await rig.read("visualViewport.scale"));
    await pause(200);
    return last > 1.5 && last === before && Math.abs((frames.at(-1)?.deviceScale ?? 1) - last) < 0.01 && last;
  }, "a picture of the zoomed page");
  await rig.read(
    "addEventListener('click', ({ clientX }) => log.push('at ' + (clientX - visualViewport.offsetLeft)))",
  );
  await rig.takeLog();
  await rig.click({ x: 640, y: 400 });
  const at = (await rig.takeLog()).find((entry) => entry.startsWith("at "));
  assert.ok(Math.abs(Number(at?.slice(3)) - 640 / zoom) < 2, `${at}, zoom ${zoom}`);
  stop();
});
