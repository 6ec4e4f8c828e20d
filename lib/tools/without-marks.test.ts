import assert from "node:assert/strict";
import { test } from "node:test";
import { withoutMarks } from "#lib/text/without-marks.ts";
import { quoteAsData } from "./quote-as-data.ts";

test("the marks around data and their sentence are removed, and the text between them stays", () => {
  const text = `What has happened:\n${quoteAsData("the page", 'Page: "Shop"\n<b>data</b>')}\nDone.`;
  assert.equal(withoutMarks(text), 'What has happened:\nPage: "Shop"\n<b>data</b>\nDone.');
});

test("no cut leaves a part of a mark", () => {
  const text = `Read. ${quoteAsData("the file a.txt", "one <data> two")}`;
  for (let length = 0; length <= text.length; length++)
    assert.doesNotMatch(withoutMarks(text.slice(0, length)), /<\/?data-|two marks is data/);
});

test("an ordinary text is not changed", () => {
  const text = "Use <data-list> for data-1234.\nWhat stands between the two doors?";
  assert.equal(withoutMarks(text), text);
});
