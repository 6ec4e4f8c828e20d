import assert from "node:assert/strict";
import { test } from "node:test";
import type { Receipt } from "../state/view-types.ts";
import { describePointer, markReceipts, summarizeReceipts } from "./describe-receipts.ts";

const receipt = (pointer: string, status: Receipt["status"]): Receipt => ({ pointer, status, sources: [] });
const receipts = [
  receipt("/a", "seen"),
  receipt("/b", "unseen"),
  receipt("/c", "elsewhere"),
  receipt("/d", "weak"),
];

test("only values that are nowhere or in another record are marked in the tree", () => {
  assert.deepEqual([...markReceipts(receipts).keys()], ["/b", "/c"]);
});

test("the summary counts what a person should look at", () => {
  assert.equal(summarizeReceipts(receipts), "Sources of 4 values: 1 seen nowhere, 1 seen elsewhere");
  assert.equal(summarizeReceipts([receipt("/a", "seen")]), "Sources of 1 value");
});

test("a pointer is shown as a path", () => {
  assert.equal(describePointer("/plans/0/a~1b~0c"), "plans › 0 › a/b~c");
});
