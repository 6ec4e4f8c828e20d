import assert from "node:assert/strict";
import { test } from "node:test";
import type { TimelineItem } from "#lib/page/state/timeline.ts";
import { countNew } from "./count-new.ts";

const text = (key: string): TimelineItem => ({ type: "text", key, text: key, isStreaming: false });
const tools = (key: string): TimelineItem => ({ type: "tools", key, toolName: "screenshot", calls: [] });

test("messages after the last read one are new, lines of tools are not", () => {
  assert.equal(countNew([text("a"), text("b"), tools("c"), text("d")], "a"), 2);
  assert.equal(countNew([text("a")], "a"), 0);
});

test("earlier messages that were loaded are not new", () =>
  assert.equal(
    countNew([...Array.from({ length: 800 }, (_, index) => text(`e${index}`)), text("a")], "a"),
    0,
  ));

test("all messages of a conversation that was empty are new", () =>
  assert.equal(countNew([text("a"), text("b")], undefined), 2));

test("nothing is new if the read item is no longer there", () => assert.equal(countNew([text("b")], "a"), 0));
