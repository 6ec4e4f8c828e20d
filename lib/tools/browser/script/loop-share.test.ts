import assert from "node:assert/strict";
import { test } from "node:test";
import { createLoopShare } from "./loop-share.ts";

/** A clock whose time passes only when the share waits, or when the test says so. */
function createClock() {
  const clock = {
    ms: 0,
    turns: 0,
    pauses: [] as number[],
    now: () => clock.ms,
    async pause(ms: number) {
      clock.pauses.push(ms);
      clock.ms += ms;
    },
    async nextTurn() {
      clock.turns += 1;
    },
  };
  return clock;
}

test("work below the share never waits", async () => {
  const clock = createClock();
  const share = createLoopShare(clock);
  for (let message = 0; message < 10_000; message++) {
    clock.ms += 1;
    share.charge(0.1);
    await share.rest();
  }
  assert.deepEqual(clock.pauses, []);
});

test("a flood uses a fifth of the time after its burst, and other work gets turns within the burst", async () => {
  const clock = createClock();
  const share = createLoopShare(clock);
  let workedMs = 0;
  while (clock.ms < 100_000) {
    clock.ms += 0.5;
    workedMs += 0.5;
    share.charge(0.5);
    await share.rest();
  }
  assert.ok(workedMs > 0.19 * clock.ms && workedMs < 0.21 * clock.ms, `${workedMs} of ${clock.ms}`);
  assert.ok(clock.turns >= 30, `${clock.turns} turns`);
});

test("one long message is followed by a pause in proportion, and a rest restores the burst", async () => {
  const clock = createClock();
  const share = createLoopShare(clock);
  clock.ms += 300;
  share.charge(300);
  await share.rest();
  assert.deepEqual(clock.pauses, [500]);
  clock.ms += 100_000;
  share.charge(199);
  await share.rest();
  assert.deepEqual(clock.pauses, [500]);
});
