import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ModelMessage, ToolModelMessage } from "ai";
import { createHistory, type RecordedEntry } from "./history.ts";

const said = (role: "user" | "assistant", content: string): ModelMessage => ({ role, content });
const calling = (...ids: string[]): ModelMessage => ({
  role: "assistant",
  content: ids.map((toolCallId) => ({ type: "tool-call", toolCallId, toolName: "look", input: {} })),
});
const answered = (toolCallId: string): ToolModelMessage => ({
  role: "tool",
  content: [{ type: "tool-result", toolCallId, toolName: "look", output: { type: "text", value: "seen" } }],
});
/** One entry a message, at positions 1, 2, 3 … */
const entries = (...messages: ModelMessage[]): RecordedEntry[] =>
  messages.map((message, index) => ({ position: index + 1, messages: [message] }));

/** The messages in short: what was said, roles of calls, and results with whether their call was executed. */
const shorten = (messages: readonly ModelMessage[]) =>
  messages.map((message) => {
    if (message.role === "tool")
      return message.content.map((part) =>
        part.type === "tool-result" ? `${part.toolCallId} ${part.output.type}` : part.type,
      );
    return typeof message.content === "string" ? message.content : message.role;
  });

describe("the history a model is shown", () => {
  it("holds what the steps recorded, in their order", () => {
    const history = createHistory(entries(said("user", "go"), calling("one")));
    history.append({ position: 3, messages: [answered("one")] });
    assert.deepEqual(shorten(history.messages), ["go", "assistant", ["one text"]]);
  });

  it("puts results that come in another order than they were recorded where the rows have them", () => {
    const history = createHistory(entries(said("user", "go"), calling("one", "two")));
    history.append({ position: 4, messages: [answered("two")] });
    history.append({ position: 3, messages: [answered("one")] });
    assert.deepEqual(
      history.entries.map(({ position }) => position),
      [1, 2, 3, 4],
    );
    assert.deepEqual(shorten(history.messages), ["go", "assistant", ["one text"], ["two text"]]);
  });

  it("says of a call whose turn ended before it that it was not executed", () => {
    const history = createHistory(
      entries(said("user", "go"), calling("one", "two"), answered("one"), said("user", "again")),
    );
    assert.deepEqual(shorten(history.messages), [
      "go",
      "assistant",
      ["one text"],
      ["two error-text"],
      "again",
    ]);
  });

  it("says so of a call at its end too, until its result is there", () => {
    const history = createHistory(entries(said("user", "go"), calling("one")));
    assert.deepEqual(shorten(history.messages), ["go", "assistant", ["one error-text"]]);
    history.append({ position: 3, messages: [answered("one")] });
    assert.deepEqual(shorten(history.messages), ["go", "assistant", ["one text"]]);
  });

  it("leaves text alone, and calls that all have results, in one message or several", () => {
    const both: ToolModelMessage = {
      role: "tool",
      content: [answered("one"), answered("two")].flatMap(({ content }) => content),
    };
    const history = createHistory(
      entries(said("user", "go"), calling("one", "two"), both, said("assistant", "done")),
    );
    assert.deepEqual(shorten(history.messages), ["go", "assistant", ["one text", "two text"], "done"]);
  });
});

describe("what the service adds", () => {
  const added = { role: "user" as const, content: "the page", isAdded: true as const };

  it("stands before the user's message that it belongs to, and at the end elsewhere", () => {
    const history = createHistory(entries(said("assistant", "hello"), said("user", "go")));
    history.append({ position: 3, messages: [added] });
    assert.deepEqual(shorten(history.messages), ["hello", "the page", "go"]);
    history.append({ position: 4, messages: [said("assistant", "done")] });
    assert.deepEqual(shorten(history.messages), ["hello", "the page", "go", "done"]);
    const other = createHistory([...entries(said("assistant", "hello")), { position: 2, messages: [added] }]);
    assert.deepEqual(shorten(other.messages), ["hello", "the page"]);
  });
});

describe("a compaction", () => {
  const recorded = entries(said("user", "go"), calling("one"), answered("one"), said("assistant", "done"));
  const compaction = { position: 9, messages: [said("user", "in short")], replacesThrough: 3 };

  it("stands in front, for everything up to its position", () => {
    const history = createHistory(recorded);
    history.append(compaction);
    assert.deepEqual(shorten(history.messages), ["in short", "done"]);
    history.append({ position: 10, messages: [said("user", "more")] });
    assert.deepEqual(shorten(history.messages), ["in short", "done", "more"]);
  });

  it("is read back the same, also where an older one lies behind it", () => {
    const older = { position: 5, messages: [said("user", "shorter")], replacesThrough: 2 };
    const history = createHistory([...recorded.slice(3), older, compaction]);
    assert.deepEqual(shorten(history.messages), ["in short", "done"]);
  });
});
