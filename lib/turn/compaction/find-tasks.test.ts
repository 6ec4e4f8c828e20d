import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { HistoryEntry } from "../history/history-entry.ts";
import { findTasks } from "./find-tasks.ts";
import { listItems } from "./group-messages.ts";
import { assistant, user } from "./testing.ts";

/** Returns the texts of the tasks, from the last to the first. */
const find = (entries: HistoryEntry[], requestFrom: number) =>
  [...findTasks(listItems(entries), requestFrom)].map(({ message }) => message.content);

describe("the task", () => {
  it("is the messages of the running request and its steers, and no earlier message", () => {
    const entries = [
      { position: 1, messages: [user("earlier")] },
      { position: 2, messages: [assistant("done")] },
      { position: 3, messages: [user("one"), user("two")] },
      { position: 4, messages: [assistant("looking")] },
      { position: 5, messages: [user("a steer")] },
    ];
    assert.deepEqual(find(entries, 3), ["a steer", "two", "one"]);
  });

  it("is the last user messages of a transcript, even if an answer follows them", () => {
    const transcript = [user("before"), assistant("said"), user("one"), user("two")];
    assert.deepEqual(find([{ position: 3, messages: transcript }], 3), ["two", "one"]);
    assert.deepEqual(find([{ position: 3, messages: [...transcript, assistant("so")] }], 3), ["two", "one"]);
  });

  it("does not include the service's own question for the structured result", () => {
    const entries = [
      { position: 3, messages: [user("the task")] },
      { position: 4, messages: [user("give the result"), assistant("{}")] },
    ];
    assert.deepEqual(find(entries, 3), ["the task"]);
  });

  it("is found inside a compaction by the position of its step, and does not include the summary", () => {
    const messages = [
      { ...user("over"), position: 0 },
      { ...user("earlier"), position: 2 },
      { ...user("the task"), position: 5 },
      { ...user("summary"), isSummary: true as const },
      assistant("looking"),
    ];
    assert.deepEqual(find([{ position: 9, messages }], 5), ["the task"]);
  });
});
