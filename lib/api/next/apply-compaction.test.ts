import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { applyEvent } from "#lib/page/state/apply-event.ts";
import { event, message, started, usage } from "#lib/page/state/testing.ts";
import { buildTimeline } from "#lib/page/state/timeline.ts";
import { readCompactions } from "./load-session-page.ts";

const sizes = { how: "summarized" as const, tokensBefore: 90_000, tokensAfter: 40_000, messagesReplaced: 31 };
const said = event(5, { kind: "message.completed", message: message("msg_2", 2, "assistant", "Looking.") });
const begun = event(6, { kind: "turn.compacting", tokens: 90_000, budgetTokens: 100_000 });
const ended = event(7, { kind: "turn.compacted", ...sizes });
const later = event(8, { kind: "message.completed", message: message("msg_3", 3, "assistant", "Found.") });
const over = event(9, { kind: "run.completed", outcome: "errored", error: "no", usage });

describe("a compaction on the page", () => {
  it("is the turn's state while it goes on", () => {
    const compacting = [said, begun].reduce(applyEvent, started);
    assert.equal(compacting.turnState, "compacting");
    assert.equal(applyEvent(compacting, ended).turnState, "running");
  });

  it("is a line after the message that was the newest then, and stays there", () => {
    const types = (state: typeof started) => buildTimeline(state).map(({ type }) => type);
    const state = [said, begun].reduce(applyEvent, started);
    assert.deepEqual(types(state), ["user", "text", "compaction"]);
    assert.deepEqual(types([ended, later].reduce(applyEvent, state)), ["user", "text", "compaction", "text"]);
  });

  it("is not left unfinished by a run that ends, and is told once where it begins anew", () => {
    const again = event(7, { kind: "turn.compacting", tokens: 90_000, budgetTokens: 100_000 });
    const state = [said, begun, again].reduce(applyEvent, started);
    assert.equal(state.compactions.length, 1);
    const failed = applyEvent(state, over);
    assert.deepEqual([failed.compactions, failed.turnState], [[], "idle"]);
  });

  it("is the same for whoever opens the page later", () => {
    for (const events of [
      [said, begun],
      [said, begun, ended, later],
      [said, begun, over],
      [said, begun, ended, over],
    ])
      assert.deepEqual(readCompactions(events), events.reduce(applyEvent, started).compactions);
  });
});
