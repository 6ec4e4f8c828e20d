import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findReplacedThrough, groupMessages, listItems } from "./group-messages.ts";
import { assistant, result, user } from "./testing.ts";

describe("groups of messages", () => {
  const items = listItems([
    { position: 1, messages: [user("before"), assistant("said"), user("the task")] },
    { position: 2, messages: [assistant("looking", ["a"], ["b"], ["c"]), result("a", "does not fit")] },
    { position: 5, messages: [result("c", "seen")] },
    { position: 6, messages: [user("a steer")] },
    { position: 9, messages: [result("b", "seen")] },
    { position: 11, messages: [assistant("done")] },
    { position: 12, messages: [result("lost", "of a call that is not there")] },
  ]);
  const starts = groupMessages(items);

  it("hold a message with calls and all their results, wherever these are", () => {
    assert.deepEqual(starts, [0, 1, 2, 3, 8]);
    assert.deepEqual(groupMessages([]), []);
  });

  it("are replaced whole, and so are entries", () => {
    const through = (index: number) => findReplacedThrough(items, starts, index);
    assert.deepEqual([0, 2, 3, 4, 5, 7, 8, 9].map(through), [1, 1, 9, 9, 9, 9, 12, 12]);
  });
});
