import assert from "node:assert/strict";
import { test } from "node:test";
import { findMarks, parseJson, pointerSegment } from "./deliverable-marks.ts";

test("the places an error names are found, and addresses are no places", () => {
  const error =
    "does not match: /fields/2/name must be string; /total must be >= 0, see https://a.example/b/c";
  assert.deepEqual(findMarks(error), ["/fields/2/name", "/total"]);
});

test("a key with a slash or a tilde is one segment", () => {
  assert.equal(pointerSegment("a/b~c"), "/a~1b~0c");
});

test("a text that is not JSON is said to be none", () => {
  assert.deepEqual(parseJson("{"), { isJson: false });
  assert.deepEqual(parseJson("null"), { isJson: true, value: null });
});
