import assert from "node:assert/strict";
import { test } from "node:test";
import { parseJson, pointerSegment, readMarks } from "./deliverable-marks.ts";

test("violations mark the places of the raw text, with every reason", () => {
  const violations = [
    { path: "/fields/name", rawPath: "/fields/entries/0/value", message: "must be string" },
    { path: "/total", message: "must be >= 0" },
    { path: "/total", message: "must be integer" },
  ];
  const marks = readMarks({ runId: "run_a", status: "failed", error: "It does not match.", violations });
  assert.deepEqual(
    [...marks],
    [
      ["/fields/entries/0/value", "must be string"],
      ["/total", "must be >= 0; must be integer"],
    ],
  );
});

test("a key with a slash or a tilde is one segment", () => {
  assert.equal(pointerSegment("a/b~c"), "/a~1b~0c");
});

test("a text that is not JSON is said to be none", () => {
  assert.deepEqual(parseJson("{"), { isJson: false });
  assert.deepEqual(parseJson("null"), { isJson: true, value: null });
});
