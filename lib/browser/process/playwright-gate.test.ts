import assert from "node:assert/strict";
import { test } from "node:test";
import { createPlaywrightGate, EVENTS_PER_SECOND } from "./playwright-gate.ts";

const logged = (sessionId: string) =>
  Buffer.from(JSON.stringify({ method: "Runtime.consoleAPICalled", params: {}, sessionId }));

test("events of one browser context do not displace those of another one", () => {
  const gate = createPlaywrightGate(() => 0);
  for (const [sessionId, browserContextId] of [
    ["s1", "one"],
    ["s2", "one"],
    ["s3", "other"],
  ])
    gate.limit(
      { method: "Target.attachedToTarget", params: { sessionId, targetInfo: { browserContextId } } },
      100,
    );
  for (let index = 0; index < EVENTS_PER_SECOND; index += 1) assert.ok(gate.admits(logged("s1")));
  assert.equal(gate.admits(logged("s1")), false);
  // Another page of the same context has no limit of its own.
  assert.equal(gate.admits(logged("s2")), false);
  assert.equal(gate.admits(logged("s3")), true);
  // An ended session counts no longer for its context.
  gate.limit({ method: "Target.detachedFromTarget", params: { sessionId: "s1" } }, 100);
  assert.equal(gate.admits(logged("s1")), true);
});
