import assert from "node:assert/strict";
import { test } from "node:test";
import { parseJson, pointerSegment, readMarks } from "./deliverable-marks.ts";

test("violations mark their values in the raw text, with all messages", () => {
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

test("slashes and tildes in a key are escaped", () => {
  assert.equal(pointerSegment("a/b~c"), "/a~1b~0c");
});

test("a text that is not JSON is recognized", () => {
  assert.deepEqual(parseJson("{"), { isJson: false });
  assert.deepEqual(parseJson("null"), { isJson: true, value: null });
});
