import assert from "node:assert/strict";
import { test } from "node:test";
import { applyEvent } from "./apply-event.ts";
import { createSessionState } from "./session-state.ts";
import { event, snapshot, started, usage } from "./testing.ts";

test("an event that the snapshot already contains changes nothing", () => {
  const state = createSessionState(snapshot);
  assert.equal(applyEvent(state, event(3, { kind: "run.started", attempt: 1, origin: "person" })), state);
});

test("a call without a result is unknown once its run has ended", () => {
  let state = applyEvent(
    started,
    event(5, {
      kind: "tool.call",
      messageId: "msg_2",
      toolCallId: "call_1",
      toolName: "screenshot",
      input: {},
    }),
  );
  state = applyEvent(state, event(6, { kind: "run.completed", outcome: "cancelled", usage }));
  assert.equal(state.toolCalls.call_1?.state, "unknown");
});
