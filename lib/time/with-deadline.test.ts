import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { withDeadline } from "./with-deadline.ts";

const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

test("the work's signal aborts at the deadline, or when the caller's signal does", async () => {
  const stop = new AbortController();
  // The timer of the deadline does not keep the process running, so this timer does.
  const alive = setTimeout(() => {}, 10_000);
  await assert.rejects(withDeadline(stop.signal, 5, untilAborted), { name: "TimeoutError" });
  const stopped = withDeadline(stop.signal, 60_000, untilAborted);
  stop.abort(new Error("enough"));
  await assert.rejects(stopped, /enough/);
  await assert.rejects(
    withDeadline(stop.signal, 60_000, async (signal) => signal.throwIfAborted()),
    /enough/,
  );
  clearTimeout(alive);
});

test("the timer and the listener are removed when the work ends", async () => {
  const { signal } = new AbortController();
  let inner: AbortSignal | undefined;
  const value = await withDeadline(signal, 5, async (limited) => {
    inner = limited;
    return 7;
  });
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual([value, inner?.aborted, getEventListeners(signal, "abort").length], [7, false, 0]);
});
