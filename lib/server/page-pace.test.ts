import assert from "node:assert/strict";
import { test } from "node:test";
import { createPagePace, pageCost } from "./page-pace.ts";

/** A pace of 60 pages a minute, with a clock that only the test moves. `waits` lists the pauses in milliseconds. */
function createPace() {
  const clock = { at: 0, waits: [] as number[] };
  const pace = createPagePace(60, {
    now: () => clock.at,
    pause: async (ms) => void clock.waits.push(ms),
  });
  return { clock, pace };
}

test("a client that loads in a loop waits longer for each page, and is refused beyond five seconds", async () => {
  const { clock, pace } = createPace();
  for (let page = 0; page < 10; page++) assert.deepEqual(await pace.enter("a", 1), { isAllowed: true });
  assert.deepEqual(clock.waits, []);
  for (let page = 0; page < 5; page++) await pace.enter("a", 1);
  assert.deepEqual(clock.waits, [1_000, 2_000, 3_000, 4_000, 5_000]);
  assert.deepEqual(await pace.enter("a", 1), { isAllowed: false, retrySeconds: 1 });
  assert.deepEqual(await pace.enter("a", 4), { isAllowed: false, retrySeconds: 4 });
  // Refused requests cost nothing: after a second, there is room for one page.
  clock.at = 1_000;
  assert.deepEqual(await pace.enter("a", 1), { isAllowed: true });
  assert.deepEqual(await pace.enter("a", 1), { isAllowed: false, retrySeconds: 1 });
});

test("other clients do not wait for it, until all clients together load three times as much", async () => {
  const { clock, pace } = createPace();
  for (const client of ["a", "b", "c"]) for (let page = 0; page < 10; page++) await pace.enter(client, 1);
  assert.deepEqual(clock.waits, []);
  assert.deepEqual(await pace.enter("d", 1), { isAllowed: true });
  assert.deepEqual(clock.waits.map(Math.round), [333]);
});

test("a file costs less than a page, and the API reference more", () => {
  const paths = ["/_next/static/chunks/a.js", "/icon.svg", "/", "/api/openapi.json", "/docs"];
  assert.deepEqual(paths.map(pageCost), [0.4, 0.4, 1, 1, 4]);
});

test("without a limit, no request waits", async () => {
  const pace = createPagePace(0, { now: () => 0, pause: () => assert.fail("waited") });
  for (let page = 0; page < 1_000; page++) assert.deepEqual(await pace.enter("a", 4), { isAllowed: true });
});
