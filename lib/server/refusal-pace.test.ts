import assert from "node:assert/strict";
import { test } from "node:test";
import { createRefusalPace } from "./refusal-pace.ts";

const ANONYMOUS = false;
const KNOWN = true;

/** A pace with a clock that only the test moves. `waits` lists the pauses in milliseconds. */
function createPace() {
  const clock = { at: 0, waits: [] as number[] };
  const pace = createRefusalPace({ now: () => clock.at, pause: async (ms) => void clock.waits.push(ms) });
  return { clock, pace };
}

test("a client that is refused in a loop waits for each refusal, at most five seconds", async () => {
  const { clock, pace } = createPace();
  for (let refusal = 0; refusal < 300; refusal++) await pace.wait("a", ANONYMOUS, 429);
  assert.deepEqual(clock.waits, []);
  for (let refusal = 0; refusal < 3; refusal++) await pace.wait("a", ANONYMOUS, 400);
  assert.deepEqual(clock.waits, [10, 20, 30]);
  for (let refusal = 0; refusal < 600; refusal++) await pace.wait("a", ANONYMOUS, 404);
  assert.equal(Math.max(...clock.waits), 5_000);
  clock.waits = [];
  await pace.wait("b", ANONYMOUS, 404);
  assert.deepEqual(clock.waits, [], "another client does not wait");
  clock.at = 10_000;
  await pace.wait("a", ANONYMOUS, 404);
  assert.deepEqual(clock.waits, [], "after a pause, the client does not wait");
});

test("answers do not wait, nor the mistakes of a client with a credential", async () => {
  const { clock, pace } = createPace();
  for (let answer = 0; answer < 1_000; answer++) {
    for (const status of [200, 304, 500, 503]) await pace.wait("a", ANONYMOUS, status);
    for (const status of [400, 404, 409, 422]) await pace.wait("a", KNOWN, status);
  }
  assert.deepEqual(clock.waits, []);
  for (let refusal = 0; refusal < 101; refusal++)
    for (const status of [401, 403, 429]) await pace.wait("a", KNOWN, status);
  assert.deepEqual(clock.waits, [10, 20, 30]);
});

test("a thousand refusals wait at most, and further ones are sent at once", async () => {
  const released = Promise.withResolvers<void>();
  let waiting = 0;
  const pace = createRefusalPace({
    now: () => 0,
    pause() {
      waiting += 1;
      return released.promise;
    },
  });
  const refusals = Array.from({ length: 2_000 }, () => pace.wait("a", ANONYMOUS, 401));
  await refusals.at(-1);
  assert.equal(waiting, 1_000);
  released.resolve();
  await Promise.all(refusals);
});
