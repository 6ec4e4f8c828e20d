import assert from "node:assert/strict";
import { test } from "node:test";
import { awaitHost } from "./await-host.ts";

test("a frame says that it waits for its host page, and goes on when the page says hello", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const late: string[] = [];
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const answer = awaitHost(promise, () => late.push("late"));
  t.mock.timers.tick(4_999);
  assert.deepEqual(late, []);
  t.mock.timers.tick(1);
  assert.deepEqual(late, ["late"]);
  resolve(true);
  assert.equal(await answer, true);
});

test("a frame that knows its host page does not wait", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const late: string[] = [];
  assert.equal(await awaitHost(Promise.resolve(false), () => late.push("late")), false);
  t.mock.timers.tick(10_000);
  assert.deepEqual(late, []);
});
