import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import { createCallsInFlight } from "./calls-in-flight.ts";

/** Simulates two processes that exchange messages over a bus. */
function startProcesses() {
  const bus = new EventEmitter();
  const topic = {
    publish: (word: string) => void bus.emit("word", word),
    subscribe(onWord: (word: string) => void) {
      bus.on("word", onWord);
      return () => void bus.off("word", onWord);
    },
  };
  return { here: createCallsInFlight(topic), there: createCallsInFlight(topic), bus };
}

test("only the holder can cancel a call, only by its exact id, and in any process", () => {
  const { here, there } = startProcesses();
  const call = here.begin("ada", 7);
  for (const [holder, id] of [
    ["bob", 7],
    ["ada", "7"],
    ["ada", 8],
    ["ada", undefined],
    ["ada", { id: 7 }],
  ] as const)
    there.cancel(holder, id);
  assert.equal(call.signal.aborted, false);
  there.cancel("ada", 7);
  assert.equal(call.signal.aborted, true);
});

test("an ended call is not cancelled, and a closed process stops listening", () => {
  const { here, there, bus } = startProcesses();
  const over = here.begin("ada", 1);
  over.end();
  over.end();
  there.cancel("ada", 1);
  assert.equal(over.signal.aborted, false);
  here.close();
  there.close();
  assert.equal(bus.listenerCount("word"), 0);
});

test("a call with an invalid or too long id cannot be cancelled, and does not throw", () => {
  const { here } = startProcesses();
  const calls = [undefined, null, {}, "x".repeat(10_000)].map((id) => here.begin("ada", id));
  here.cancel("ada", "x".repeat(10_000));
  assert.ok(calls.every(({ signal }) => !signal.aborted));
});
