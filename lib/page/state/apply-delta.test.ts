import assert from "node:assert/strict";
import { test } from "node:test";
import { applyDelta } from "./apply-delta.ts";
import { applyEvent } from "./apply-event.ts";
import type { SessionState } from "./session-state.ts";
import { delta, event, message, started } from "./testing.ts";

const draftText = (state: SessionState) => state.drafts.map(({ text }) => text).join("|");

test("deltas add up by offset, and a repeated or overlapping one adds only what is new", () => {
  let state = applyDelta(started, delta(0, "Hel"));
  state = applyDelta(state, delta(3, "lo"));
  assert.equal(applyDelta(state, delta(3, "lo")), state);
  assert.equal(draftText(applyDelta(state, delta(0, "Hello you"))), "Hello you");
});

test("a delta after a gap is dropped", () => {
  const state = applyDelta(started, delta(0, "Hel"));
  assert.equal(applyDelta(state, delta(9, "lost")), state);
});

test("a later attempt replaces what an earlier one streamed, and an earlier one is ignored", () => {
  const state = applyDelta(applyDelta(started, delta(0, "First")), delta(0, "Se", { attempt: 2 }));
  assert.equal(draftText(state), "Se");
  assert.equal(applyDelta(state, delta(5, " try")), state);
});

test("the stored message supersedes its deltas, including late ones", () => {
  let state = applyDelta(started, delta(0, "Hel"));
  state = applyEvent(
    state,
    event(5, { kind: "message.completed", message: message("msg_2", 2, "assistant", "Hello.") }),
  );
  assert.deepEqual(state.drafts, []);
  assert.equal(applyDelta(state, delta(3, "lo")), state);
  assert.equal(state.messages.length, 2);
});
