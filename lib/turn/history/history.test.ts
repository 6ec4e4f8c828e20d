import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ModelMessage, ToolModelMessage } from "ai";
import { createHistory, type RecordedEntry } from "./history.ts";

const text = (role: "user" | "assistant", content: string): ModelMessage => ({ role, content });
const calling = (...ids: string[]): ModelMessage => ({
  role: "assistant",
  content: ids.map((toolCallId) => ({ type: "tool-call", toolCallId, toolName: "look", input: {} })),
});
const answered = (toolCallId: string): ToolModelMessage => ({
  role: "tool",
  content: [{ type: "tool-result", toolCallId, toolName: "look", output: { type: "text", value: "seen" } }],
});
/** Creates one entry for each message, at positions 1, 2, 3 … */
const entries = (...messages: ModelMessage[]): RecordedEntry[] =>
  messages.map((message, index) => ({ position: index + 1, messages: [message] }));

/** Writes messages in short form: texts, the roles of messages with calls, and the ids and output types of results. */
const shorten = (messages: readonly ModelMessage[]) =>
  messages.map((message) => {
    if (message.role === "tool")
      return message.content.map((part) =>
        part.type === "tool-result" ? `${part.toolCallId} ${part.output.type}` : part.type,
      );
    return typeof message.content === "string" ? message.content : message.role;
  });

describe("the history for the model", () => {
  it("holds the messages that the steps recorded, in their order", () => {
    const history = createHistory(entries(text("user", "go"), calling("one")));
    history.append({ position: 3, messages: [answered("one")] });
    assert.deepEqual(shorten(history.messages), ["go", "assistant", ["one text"]]);
  });

  it("orders results by their recorded positions, even if they are appended in another order", () => {
    const history = createHistory(entries(text("user", "go"), calling("one", "two")));
    history.append({ position: 4, messages: [answered("two")] });
    history.append({ position: 3, messages: [answered("one")] });
    assert.deepEqual(
      history.entries.map(({ position }) => position),
      [1, 2, 3, 4],
    );
    assert.deepEqual(shorten(history.messages), ["go", "assistant", ["one text"], ["two text"]]);
  });

  it("says that a call was not executed if its turn ended before it", () => {
    const history = createHistory(
      entries(text("user", "go"), calling("one", "two"), answered("one"), text("user", "again")),
    );
    assert.deepEqual(shorten(history.messages), [
      "go",
      "assistant",
      ["one text"],
      ["two error-text"],
      "again",
    ]);
  });

  it("says the same of a call at the end of the history until its result is there", () => {
    const history = createHistory(entries(text("user", "go"), calling("one")));
    assert.deepEqual(shorten(history.messages), ["go", "assistant", ["one error-text"]]);
    history.append({ position: 3, messages: [answered("one")] });
    assert.deepEqual(shorten(history.messages), ["go", "assistant", ["one text"]]);
  });

  it("does not change texts, or calls that all have results, in one message or several", () => {
    const both: ToolModelMessage = {
      role: "tool",
      content: [answered("one"), answered("two")].flatMap(({ content }) => content),
    };
    const history = createHistory(
      entries(text("user", "go"), calling("one", "two"), both, text("assistant", "done")),
    );
    assert.deepEqual(shorten(history.messages), ["go", "assistant", ["one text", "two text"], "done"]);
  });
});

describe("a message that the service adds", () => {
  const added = { role: "user" as const, content: "the page", isAdded: true as const };

  it("goes before the user message that it belongs to, and otherwise to the end", () => {
    const history = createHistory(entries(text("assistant", "hello"), text("user", "go")));
    history.append({ position: 3, messages: [added] });
    assert.deepEqual(shorten(history.messages), ["hello", "the page", "go"]);
    history.append({ position: 4, messages: [text("assistant", "done")] });
    assert.deepEqual(shorten(history.messages), ["hello", "the page", "go", "done"]);
    const other = createHistory([...entries(text("assistant", "hello")), { position: 2, messages: [added] }]);
    assert.deepEqual(shorten(other.messages), ["hello", "the page"]);
  });

  it("goes after another message of the service, which may refer to the message before it", () => {
    const own = { role: "user" as const, content: "the message above is your own", isAdded: true as const };
    const history = createHistory([{ position: 1, messages: [text("assistant", "hello"), own] }]);
    history.append({ position: 2, messages: [added] });
    assert.deepEqual(shorten(history.messages), ["hello", "the message above is your own", "the page"]);
  });
});

describe("a compaction", () => {
  const recorded = entries(text("user", "go"), calling("one"), answered("one"), text("assistant", "done"));
  const compaction = { position: 9, messages: [text("user", "in short")], replacesThrough: 3 };

  it("comes first, and replaces everything up to its position", () => {
    const history = createHistory(recorded);
    history.append(compaction);
    assert.deepEqual(shorten(history.messages), ["in short", "done"]);
    history.append({ position: 10, messages: [text("user", "more")] });
    assert.deepEqual(shorten(history.messages), ["in short", "done", "more"]);
  });

  it("is the same when it is read from the steps, even if there is an older compaction", () => {
    const older = { position: 5, messages: [text("user", "shorter")], replacesThrough: 2 };
    const history = createHistory([...recorded.slice(3), older, compaction]);
    assert.deepEqual(shorten(history.messages), ["in short", "done"]);
  });
});
