import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { applyEvent } from "#lib/page/state/apply-event.ts";
import { event, message, started } from "#lib/page/state/testing.ts";
import { buildTimeline } from "#lib/page/state/timeline.ts";
import { describeMissingTools } from "#lib/page/words/describe-missing-tools.ts";
import { readMissingTools } from "./load-session-page.ts";

const asked = event(5, { kind: "message.completed", message: message("msg_2", 2, "user", "And now?") });
const server = event(6, { kind: "mcp.skipped", serverId: "crm", reason: "it is dead" });
const tools = event(7, {
  kind: "mcp.skipped",
  serverId: "shop",
  reason: "no",
  tools: ["a", "b"],
  toolCount: 40,
});
const said = event(8, { kind: "message.completed", message: message("msg_3", 3, "assistant", "This.") });

describe("missing tools on the page", () => {
  it("are lines after the message that was the newest then, for whoever saw it and whoever comes later", () => {
    const events = [asked, server, tools, said];
    const state = events.reduce(applyEvent, started);
    assert.deepEqual(
      buildTimeline(state).map(({ type }) => type),
      ["user", "user", "missing-tools", "missing-tools", "text"],
    );
    assert.deepEqual(readMissingTools(events), state.missingTools);
  });

  it("tell of a whole server, or of the first of its tools and how many there are", () => {
    const lines = [server, tools].reduce(applyEvent, started).missingTools.map(describeMissingTools);
    assert.deepEqual(lines, [
      "crm is not available in this turn: it is dead",
      "40 tools of shop are not available: no (a, b, …)",
    ]);
  });
});
