import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ModelMessage } from "ai";
import { composeHistory, settleCalls } from "./compose-history.ts";
import type { HistoryRow } from "./store.ts";

const said = (role: "user" | "assistant", text: string): HistoryRow => ({
  kind: "message",
  role,
  parts: [{ type: "text", text }],
});
const step = (...modelMessages: ModelMessage[]): HistoryRow => ({ kind: "step", modelMessages });
const calling = (...ids: string[]): ModelMessage => ({
  role: "assistant",
  content: ids.map((toolCallId) => ({ type: "tool-call", toolCallId, toolName: "look", input: {} })),
});
const answered = (toolCallId: string): ModelMessage => ({
  role: "tool",
  content: [{ type: "tool-result", toolCallId, toolName: "look", output: { type: "text", value: "seen" } }],
});

/** The messages in short: roles, and the results with whether their call was executed. */
const shorten = (messages: ModelMessage[]) =>
  messages.map((message) =>
    message.role === "tool"
      ? message.content.map((part) =>
          part.type === "tool-result" ? `${part.toolCallId} ${part.output.type}` : part.type,
        )
      : message.role,
  );

describe("the history a model is shown", () => {
  it("holds messages and steps in their order, parts of a message joined", () => {
    const rows: HistoryRow[] = [
      {
        kind: "message",
        role: "user",
        parts: [
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ],
      },
      step({ role: "assistant", content: "c" }),
    ];
    assert.deepEqual(composeHistory(rows), [
      { role: "user", content: "a\nb" },
      { role: "assistant", content: "c" },
    ]);
  });

  it("says of a call whose turn ended before it that it was not executed", () => {
    const rows = [
      said("user", "go"),
      step(calling("one", "two")),
      step(answered("one")),
      said("user", "again"),
    ];
    assert.deepEqual(shorten(composeHistory(rows)), [
      ...["user", "assistant", ["one text"], ["two error-text"], "user"],
    ]);
  });

  it("leaves the last message's calls open: a step may still answer them", () => {
    const rows = [said("user", "go"), step(calling("one"))];
    assert.deepEqual(shorten(composeHistory(rows)), ["user", "assistant"]);
  });

  it("settles calls that a retry finds open, before it answers anew", () => {
    const rows = [said("user", "go"), step(calling("one")), step({ role: "assistant", content: "new" })];
    assert.deepEqual(shorten(composeHistory(rows)), ["user", "assistant", ["one error-text"], "assistant"]);
  });

  it("settles open calls before a question of the service's own", () => {
    const rows = [said("user", "go"), step(calling("one")), step({ role: "user", content: "the result" })];
    assert.deepEqual(shorten(composeHistory(rows)), ["user", "assistant", ["one error-text"], "user"]);
  });
});

describe("a prompt about to be sent", () => {
  it("has a result for every call of the last answer, beside the ones that came", () => {
    const messages: ModelMessage[] = [
      { role: "user", content: "go" },
      calling("one", "two", "three"),
      answered("two"),
    ];
    const settled = settleCalls(messages);
    assert.deepEqual(shorten(settled), [
      "user",
      "assistant",
      ["one error-text", "three error-text"],
      ["two text"],
    ]);
    assert.equal(messages.length, 3, "the conversation itself is not changed");
  });

  it("is left as it is when nothing is open", () => {
    for (const messages of [
      [],
      [{ role: "user", content: "go" }],
      [calling("one"), answered("one")],
      [{ role: "assistant", content: "done" }],
    ] satisfies ModelMessage[][])
      assert.equal(settleCalls(messages), messages);
  });
});
