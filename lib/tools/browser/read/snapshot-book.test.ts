import assert from "node:assert/strict";
import { test } from "node:test";
import { createSnapshotBook, describeDifference } from "./snapshot-book.ts";
import type { Snapshot } from "./take-snapshot.ts";

const snapshot = (lines: string[]): Snapshot => ({
  url: "https://shop.example/",
  title: "Shop",
  document: "1",
  view: { width: 1280, height: 800, scrollX: 0, scrollY: 0, pageWidth: 1280, pageHeight: 800 },
  loading: 0,
  lines,
});

test("the latest four snapshots of a session are kept", () => {
  const book = createSnapshotBook();
  const ids = ["one", "two", "three", "four", "five"].map((line) => book.add("ses_a", snapshot([line])).id);
  assert.deepEqual(
    ids.map((id) => book.find("ses_a", id)?.lines[0]),
    [undefined, "two", "three", "four", "five"],
  );
  assert.equal(book.find("ses_b", ids[4] ?? ""), undefined);
});

test("the total size is limited: the session whose last snapshot is oldest is evicted first", () => {
  const book = createSnapshotBook();
  const huge = snapshot(Array.from({ length: 10_000 }, () => "x".repeat(1_000)));
  const sessions = Array.from({ length: 6 }, (_, index) => `ses_${index}`);
  const ids = sessions.map((sessionId) => book.add(sessionId, huge).id);
  const remaining = sessions.filter((sessionId, index) => book.find(sessionId, ids[index] ?? ""));
  assert.deepEqual(remaining, ["ses_3", "ses_4", "ses_5"]);
});

test("a ref is described as in the latest snapshot that contains it", () => {
  const book = createSnapshotBook();
  book.add("ses_a", snapshot(['| "Shoe" | button "Buy" [e1] | button "Say \\"hi\\"" [e2] disabled']));
  assert.equal(book.describeRef("ses_a", "e1"), 'button "Buy"');
  assert.equal(book.describeRef("ses_a", "e2"), 'button "Say \\"hi\\""');
  assert.equal(book.describeRef("ses_a", "e3"), undefined);
});

test("each group of changes says where it is: in what, and after what", () => {
  const before = snapshot([
    'heading "Cart"',
    'list "Items"',
    "  listitem",
    '    "Boots"',
    '    button "More" [e1]',
    '    "1"',
    "  listitem",
    '    "Sandals"',
    '    "1"',
    '"Total 20"',
  ]);
  const after = snapshot([
    '"Saved"',
    ...before.lines.slice(0, 5),
    '    "2"',
    ...before.lines.slice(6, 8),
    '    "3"',
    '"Total 50"',
  ]);
  assert.deepEqual(describeDifference(before, after), [
    "at the top",
    '+ "Saved"',
    'in list "Items" > listitem after button "More" [e1]',
    '- "1"',
    '+ "2"',
    'after "Sandals"',
    '- "1"',
    '- "Total 20"',
    '+ "3"',
    '+ "Total 50"',
  ]);
});
