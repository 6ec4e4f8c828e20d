import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { applyEvent } from "#lib/page/state/apply-event.ts";
import { event, message, started, usage } from "#lib/page/state/testing.ts";
import { buildTimeline } from "#lib/page/state/timeline.ts";
import { readCompactions } from "./read-event-views.ts";

const sizes = { how: "summarized" as const, tokensBefore: 90_000, tokensAfter: 40_000, messagesReplaced: 31 };
const reply = event(5, { kind: "message.completed", message: message("msg_2", 2, "assistant", "Looking.") });
const compacting = event(6, { kind: "turn.compacting", tokens: 90_000, budgetTokens: 100_000 });
const compacted = event(7, { kind: "turn.compacted", ...sizes });
const laterReply = event(8, {
  kind: "message.completed",
  message: message("msg_3", 3, "assistant", "Found."),
});
const failedRun = event(9, { kind: "run.completed", outcome: "errored", error: "no", usage });

describe("a compaction on the page", () => {
  it("is the turn's state while it is in progress", () => {
    const state = [reply, compacting].reduce(applyEvent, started);
    assert.equal(state.turnState, "compacting");
    assert.equal(applyEvent(state, compacted).turnState, "running");
  });

  it("is a line after the message that was newest when it began, and stays there", () => {
    const types = (state: typeof started) => buildTimeline(state).map(({ type }) => type);
    const state = [reply, compacting].reduce(applyEvent, started);
    assert.deepEqual(types(state), ["user", "text", "compaction"]);
    assert.deepEqual(types([compacted, laterReply].reduce(applyEvent, state)), [
      "user",
      "text",
      "compaction",
      "text",
    ]);
  });

  it("appears once if it is restarted, and is removed if its run ends before it is complete", () => {
    const restarted = event(7, { kind: "turn.compacting", tokens: 90_000, budgetTokens: 100_000 });
    const state = [reply, compacting, restarted].reduce(applyEvent, started);
    assert.equal(state.compactions.length, 1);
    const failed = applyEvent(state, failedRun);
    assert.deepEqual([failed.compactions, failed.turnState], [[], "idle"]);
  });

  it("is the same on a page that is opened later", () => {
    for (const events of [
      [reply, compacting],
      [reply, compacting, compacted, laterReply],
      [reply, compacting, failedRun],
      [reply, compacting, compacted, failedRun],
    ])
      assert.deepEqual(readCompactions(events), events.reduce(applyEvent, started).compactions);
  });
});
