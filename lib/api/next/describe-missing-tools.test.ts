import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { describeMissingTools } from "#lib/page/labels/describe-missing-tools.ts";
import { applyEvent } from "#lib/page/state/apply-event.ts";
import { event, message, started } from "#lib/page/state/testing.ts";
import { buildTimeline } from "#lib/page/state/timeline.ts";
import { readMissingTools } from "./read-event-views.ts";

const question = event(5, { kind: "message.completed", message: message("msg_2", 2, "user", "And now?") });
const server = event(6, { kind: "mcp.skipped", serverId: "crm", reason: "it is dead" });
const tools = event(7, {
  kind: "mcp.skipped",
  serverId: "shop",
  reason: "no",
  tools: ["a", "b"],
  toolCount: 40,
});
const reply = event(8, { kind: "message.completed", message: message("msg_3", 3, "assistant", "This.") });

describe("missing tools on the page", () => {
  it("are lines after the message that was newest then, also on a page that is opened later", () => {
    const events = [question, server, tools, reply];
    const state = events.reduce(applyEvent, started);
    assert.deepEqual(
      buildTimeline(state).map(({ type }) => type),
      ["user", "user", "missing-tools", "missing-tools", "text"],
    );
    assert.deepEqual(readMissingTools(events), state.missingTools);
  });

  it("name a whole server, or the number of its missing tools and the first of them", () => {
    const lines = [server, tools].reduce(applyEvent, started).missingTools.map(describeMissingTools);
    assert.deepEqual(lines, [
      "crm is not available in this turn: it is dead",
      "40 tools of shop are not available: no (a, b, …)",
    ]);
  });
});
