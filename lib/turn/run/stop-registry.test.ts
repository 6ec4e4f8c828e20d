import assert from "node:assert/strict";
import { test } from "node:test";
import { createStopRegistry, isShutdown } from "./stop-registry.ts";

test("overlapping plays of a run share its signal, and the next play after them gets a new one", async () => {
  const stops = createStopRegistry();
  const gate = Promise.withResolvers<void>();
  let early: AbortSignal | undefined;
  const first = stops.withSignal("run_1", async (signal) => {
    early = signal;
    await gate.promise;
  });
  await stops.withSignal("run_1", async (signal) => assert.equal(signal, early));
  stops.stop("run_1", "stopped");
  assert.equal(early?.aborted, true, "the end of one play does not hide the other from a stop");
  gate.resolve();
  await first;
  await assert.rejects(
    stops.withSignal("run_1", async (signal) => {
      assert.equal(signal.aborted, false);
      throw new Error("the play failed");
    }),
    /the play failed/,
  );
  await stops.withSignal("run_1", async (signal) => assert.notEqual(signal, early));
});

test("a shutdown aborts the plays in progress and those that begin later", async () => {
  const stops = createStopRegistry();
  await stops.withSignal("run_1", async (signal) => {
    stops.shutDown();
    assert.ok(isShutdown(signal.reason));
  });
  await stops.withSignal("run_2", async (signal) => assert.ok(isShutdown(signal.reason)));
});
