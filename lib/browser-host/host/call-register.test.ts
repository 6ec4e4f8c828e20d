import assert from "node:assert/strict";
import { test } from "node:test";
import { LinkEndedError } from "#lib/host-link/link-message.ts";
import type { ToolResult } from "#lib/tools/tool.ts";
import { createCallRegister } from "./call-register.ts";

const call = { sessionId: "ses_a", runId: "run_a", callId: "call_a", epoch: 1 };
const text = (each: string): ToolResult => ({ isError: false, content: [{ type: "text", text: each }] });
const never = new AbortController().signal;

/** Work that runs until its signal fires, and then returns the reason. */
function startWork() {
  let runs = 0;
  return {
    runs: () => runs,
    work: (signal: AbortSignal) => {
      runs += 1;
      return new Promise<ToolResult>((resolve) => {
        const end = () => resolve(text((signal.reason as Error).message));
        if (signal.aborted) end();
        else signal.addEventListener("abort", end);
      });
    },
  };
}

test("a call of a run outlives its link, and a later epoch recovers its result", async () => {
  const calls = createCallRegister();
  const { work, runs } = startWork();
  const link = new AbortController();
  const first = calls.runOnce(call, link.signal, work);
  let hasEnded = false;
  const ended = calls.untilEnded("ses_a").then(() => {
    hasEnded = true;
  });
  link.abort(new LinkEndedError("the process was killed"));
  await new Promise(setImmediate);
  assert.equal(hasEnded, false);
  const continued = text("the turn was continued by another process");
  assert.deepEqual(await calls.recover({ ...call, epoch: 2 }), continued);
  await ended;
  assert.deepEqual(await first, continued);
  assert.deepEqual(await calls.runOnce({ ...call, epoch: 2 }, never, work), continued);
  assert.equal(runs(), 1);
});

test("calls that can be repeated, or that belong to no run, end with their link", async () => {
  const calls = createCallRegister();
  const { work } = startWork();
  const link = new AbortController();
  const repeatable = calls.run(call, link.signal, work);
  const outside = calls.runOnce({ ...call, runId: null, epoch: null }, link.signal, work);
  link.abort(new LinkEndedError("the process was killed"));
  assert.deepEqual(await Promise.all([repeatable, outside]), [
    text("the process was killed"),
    text("the process was killed"),
  ]);
  assert.equal(await calls.recover({ ...call, epoch: 2 }), null);
});

test("a call that is repeated by a later epoch runs again if it can be repeated", async () => {
  const calls = createCallRegister();
  const { work } = startWork();
  const first = calls.run(call, never, work);
  const again = calls.run({ ...call, epoch: 2 }, never, async () => text("again"));
  assert.deepEqual(await again, text("again"));
  assert.deepEqual(await first, text("the turn was continued by another process"));
});

test("work of every kind is refused to an earlier epoch, and ended by a later one or a suspension", async () => {
  const calls = createCallRegister();
  await calls.run({ ...call, epoch: 5 }, never, async () => null);
  const earlier = { ...call, callId: "call_b", epoch: 4 };
  const refusal = /another process plays this run now/;
  await assert.rejects(
    calls.run(earlier, never, async () => null),
    refusal,
  );
  await assert.rejects(
    calls.runOnce(earlier, never, async () => text("")),
    refusal,
  );
  await assert.rejects(calls.recover(earlier), refusal);
  const { work } = startWork();
  const running = [
    calls.run({ ...call, epoch: 5 }, never, work),
    calls.runOnce({ ...call, epoch: 5 }, never, work),
  ];
  calls.endAll(new Error("suspended"));
  assert.deepEqual(await Promise.all(running), [text("suspended"), text("suspended")]);
});

test("a cancel that comes before the work began, and one of a caller that joined it, end the work", async () => {
  const calls = createCallRegister();
  const { work } = startWork();
  const stopped = AbortSignal.abort(new Error("the turn was stopped"));
  assert.deepEqual(await calls.runOnce(call, stopped, work), text("the turn was stopped"));
  const other = { ...call, callId: "call_b" };
  const stop = new AbortController();
  const first = calls.runOnce(other, never, work);
  const joined = calls.runOnce(other, stop.signal, work);
  stop.abort(new Error("the turn was stopped"));
  assert.deepEqual(await Promise.all([first, joined]), Array(2).fill(text("the turn was stopped")));
});

test("results are kept for 10 minutes, and at most 1,000 and 64 MiB of them", async () => {
  let now = 0;
  const calls = createCallRegister(() => now);
  const add = (callId: string, result: ToolResult) =>
    calls.runOnce({ ...call, callId }, never, async () => result);
  const has = async (callId: string) => (await calls.recover({ ...call, callId })) !== null;
  await add("old", text("old"));
  now = 10 * 60_000 + 1;
  for (let each = 0; each < 1_001; each += 1) await add(`call_${each}`, text("x"));
  assert.deepEqual([await has("old"), await has("call_0"), await has("call_1")], [false, false, true]);
  const large = "x".repeat(2 ** 20);
  for (let each = 0; each < 40; each += 1) await add(`large_${each}`, text(large));
  assert.deepEqual([await has("large_0"), await has("large_39")], [false, true]);
});
