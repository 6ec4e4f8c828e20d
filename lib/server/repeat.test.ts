import assert from "node:assert/strict";
import { test } from "node:test";
import { repeat } from "./repeat.ts";

test("work is repeated, never twice at a time, and its end is awaited", async () => {
  let running = 0;
  let runningMax = 0;
  let rounds = 0;
  const third = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const stop = repeat(1, async () => {
    running += 1;
    rounds += 1;
    runningMax = Math.max(runningMax, running);
    if (rounds === 3) third.resolve();
    await (rounds === 3 ? release.promise : new Promise((done) => setTimeout(done, 5)));
    running -= 1;
  });
  // The timer of `repeat` does not keep the process alive.
  const keepAlive = setInterval(() => {}, 1_000);
  await third.promise;
  const stopped = stop();
  release.resolve();
  await stopped;
  clearInterval(keepAlive);
  assert.deepEqual([rounds, running, runningMax], [3, 0, 1]);
});
