// Needs a process of its own: it counts the timers of its process.
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { afterEach, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { createDeadline } from "./deadline.ts";

const never = new Promise<never>(() => {});
const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
const timersBefore = countTimers();

function countTimers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
}

afterEach(() => assert.equal(countTimers(), timersBefore, "a timer outlived the wait"));

test("race has the outcome of the work, or fails when the time is over", async () => {
  const deadline = createDeadline({ ms: 60_000, lateMessage: "late" });
  assert.equal(await deadline.race(Promise.resolve(42)), 42);
  assert.equal(await deadline.race(async () => 42), 42);
  await assert.rejects(deadline.race(Promise.reject(new Error("own"))), { message: "own" });
  await assert.rejects(createDeadline({ ms: 5, lateMessage: "late" }).race(never), { message: "late" });
  await assert.rejects(createDeadline({ ms: 5 }).race(never), { name: "TimeoutError" });
});

test("race fails when the caller's signal aborts, and does not start work after that", async () => {
  const stop = new AbortController();
  const deadline = createDeadline({ ms: 60_000, signal: stop.signal });
  const named = createDeadline({ signal: stop.signal, stopMessage: "The call was stopped." });
  const [waiting, other] = [deadline.race(never), named.race(never)];
  stop.abort(new Error("enough"));
  await assert.rejects(waiting, { message: "enough" });
  await assert.rejects(other, { message: "The call was stopped." });
  await assert.rejects(deadline.race(Promise.resolve(1)), { message: "enough" });
  await assert.rejects(
    deadline.race(() => assert.fail("started")),
    { message: "enough" },
  );
  assert.equal(getEventListeners(stop.signal, "abort").length, 0);
});

test("time in which the machine is busy does not count, up to a limit", async () => {
  const asks = (stalls: readonly number[]) => {
    let asked = 0;
    return { readStalledMs: () => stalls[Math.min(asked++, stalls.length - 1)] ?? 0, count: () => asked };
  };
  // Asked at the start, for the first timer, when that has ended, for the second timer, and when that has ended.
  const busy = asks([100, 100, 120, 120]);
  await assert.rejects(createDeadline({ ms: 10, lateMessage: "late", ...busy }).race(never), {
    message: "late",
  });
  assert.ok(busy.count() >= 5, `asked ${busy.count()} times`);
  const endless = asks([0, 1e9]);
  await assert.rejects(createDeadline({ ms: 10, lateMessage: "late", ...endless }).race(never), {
    message: "late",
  });
});

test("race can have a result for the end of the deadline", async () => {
  const early = await createDeadline({ ms: 60_000 }).race(Promise.resolve("early"), () => "late");
  const late = await createDeadline({ ms: 5, lateMessage: "why" }).race(never, (reason) => String(reason));
  assert.deepEqual([early, late], ["early", "Error: why"]);
  const failing = createDeadline({ ms: 5 }).race(never, () => {
    throw new Error("own");
  });
  await assert.rejects(failing, { message: "own" });
});

test("work that fails after the deadline causes no unhandled rejection", async () => {
  const [raced, settling] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await assert.rejects(createDeadline({ ms: 5, lateMessage: "late" }).race(raced.promise), {
    message: "late",
  });
  assert.equal(await createDeadline({ ms: 5 }).settles(settling.promise), false);
  // An unhandled rejection would fail this test.
  raced.reject(new Error("later"));
  settling.reject(new Error("later"));
  await setImmediate();
});

test("settles ignores a failure, and ends when the deadline does", async () => {
  const deadline = createDeadline({ ms: 60_000 });
  assert.equal(await deadline.settles(Promise.reject(new Error("own"))), true);
  assert.equal(await deadline.settles(Promise.resolve()), true);
  assert.equal(await createDeadline({ ms: 5 }).settles(never), false);
  assert.equal(await createDeadline({ signal: AbortSignal.abort() }).settles(never), false);
});

test("the signal of run aborts at the deadline, or when the caller's signal does", async () => {
  const stop = new AbortController();
  // The timer of run does not keep the process running, so this timer does.
  const alive = setTimeout(() => {}, 60_000);
  await assert.rejects(createDeadline({ ms: 5, signal: stop.signal }).run(untilAborted), {
    name: "TimeoutError",
  });
  const deadline = createDeadline({ ms: 60_000, signal: stop.signal });
  const stopped = deadline.run(untilAborted);
  stop.abort(new Error("enough"));
  await assert.rejects(stopped, { message: "enough" });
  await assert.rejects(
    deadline.run(async (signal) => signal.throwIfAborted()),
    { message: "enough" },
  );
  clearTimeout(alive);
  assert.equal(getEventListeners(stop.signal, "abort").length, 0);
});

test("the signal of run does not abort after the work, and its listener is removed", async () => {
  const stop = new AbortController();
  let inner: AbortSignal | undefined;
  const value = await createDeadline({ ms: 60_000, signal: stop.signal }).run(async (signal) => {
    inner = signal;
    return 7;
  });
  assert.equal(getEventListeners(stop.signal, "abort").length, 0);
  stop.abort();
  assert.deepEqual([value, inner?.aborted], [7, false]);
});

test("the time begins when the deadline is created, and waits share it", async () => {
  const long = createDeadline({ ms: 60_000 }).remainingMs();
  assert.ok(long > 0 && long <= 60_000);
  const deadline = createDeadline({ ms: 5, lateMessage: "late" });
  await assert.rejects(deadline.race(never), { message: "late" });
  while (deadline.remainingMs() > 0) await setImmediate();
  assert.equal(await deadline.race(Promise.resolve("settled already")), "settled already");
  await assert.rejects(deadline.race(never), { message: "late" });
});

test("a deadline of more than 24 days needs no timer", async () => {
  const work = Promise.withResolvers<string>();
  const waiting = createDeadline({ ms: 2 ** 31 }).race(work.promise);
  assert.equal(countTimers(), timersBefore);
  work.resolve("done");
  assert.equal(await waiting, "done");
  assert.equal(createDeadline({}).remainingMs(), Number.POSITIVE_INFINITY);
});
