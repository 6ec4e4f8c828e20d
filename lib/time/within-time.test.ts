import assert from "node:assert/strict";
import { test } from "node:test";
import { untilSettled, withinTime } from "./within-time.ts";

const never = new Promise<never>(() => {});

test("withinTime has the outcome of the work, or fails with the message when the time is over", async () => {
  assert.equal(await withinTime(Promise.resolve(42), 1_000, "late"), 42);
  await assert.rejects(withinTime(Promise.reject(new Error("own")), 1_000, "late"), { message: "own" });
  await assert.rejects(withinTime(never, 10, "late"), { message: "late" });
});

test("work that fails after the time is over causes no unhandled rejection", async () => {
  const work = Promise.withResolvers<void>();
  await assert.rejects(withinTime(work.promise, 10, "late"), { message: "late" });
  await untilSettled(work.promise, 10);
  // An unhandled rejection would fail this test.
  work.reject(new Error("later"));
  await new Promise((resolve) => setTimeout(resolve, 10));
});

test("untilSettled ignores a failure, and ends when the time is over", async () => {
  await untilSettled(Promise.reject(new Error("own")), 1_000);
  await untilSettled(never, 10);
});
