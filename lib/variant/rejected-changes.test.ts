import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Change, VariantDocument } from "./document.ts";
import { describeReturned, listRejectedChanges } from "./rejected-changes.ts";

const text = (id: string, words: string, off?: true): Change => ({
  id,
  op: "setText",
  selector: "h1",
  text: words,
  ...(off && { off }),
});
const documentOf = (...changes: Change[]): VariantDocument => ({
  pages: [{ url: "https://shop.example/", match: "path", changes, css: "", js: "" }],
});
const by = (author: "agent" | "person", number: number, ...changes: Change[]) => ({
  number,
  author,
  document: documentOf(...changes),
});
const NONE = new Map<string, string>();

describe("changes that a person has rejected", () => {
  const [one, two, three] = [text("c1", "One"), text("c2", "Two"), text("c3", "Three")];
  const rejected = listRejectedChanges([
    by("agent", 4, one, two, three),
    by("person", 5, { ...two, off: true }, text("c3", "Edited")),
  ]);
  const now = documentOf({ ...two, off: true }, text("c3", "Edited"));
  const describeNew = (...changes: Change[]) => describeReturned(rejected, now, documentOf(...changes), NONE);

  it("are named when they return: dropped, switched off or with the old content", () => {
    assert.deepEqual(describeNew(text("c4", "One"), two, three), [
      "c4: a person dropped it in revision 5, as c1.",
      "c2: a person switched it off in revision 5.",
      "c3: a person replaced this content of it in revision 5.",
    ]);
    const renamed = describeReturned(rejected, now, documentOf(text("c5", "Other")), new Map([["c5", "c1"]]));
    assert.deepEqual(renamed, ["c5: a person dropped it in revision 5, as c1."]);
    assert.deepEqual(describeNew({ ...text("c6", "Two"), note: "again" }), [
      "c6: a person switched it off in revision 5, as c2.",
    ]);
  });

  it("are not named while they are off or as the person left them, nor for other content", () => {
    assert.deepEqual(describeNew({ ...two, off: true }, text("c3", "Edited"), text("c7", "Seven")), []);
    assert.deepEqual(describeNew(text("c3", "Newer"), text("c8", "Three")), []);
    assert.deepEqual(describeReturned(rejected, documentOf(two), documentOf(two), NONE), [], "told before");
  });

  it("are forgotten when a person restores them, and the agent's own changes are none", () => {
    const restored = listRejectedChanges([
      by("agent", 1, one, two, three),
      by("person", 2, two, text("c3", "Edited")),
      by("person", 3, one, { ...two, off: true }, text("c3", "Edited")),
      by("person", 4, one, two, three),
      by("agent", 5, one),
    ]);
    assert.deepEqual(
      restored.map(({ change, how }) => [change, how]),
      [[text("c3", "Edited"), "edited"]],
    );
    assert.deepEqual(listRejectedChanges([by("person", 7, one), by("person", 9)]), []);
  });
});
