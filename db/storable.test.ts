import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { storable, storableText } from "./storable.ts";

describe("storable values", () => {
  it("have no NUL and no lone surrogate, and keep their length", () => {
    assert.equal(storableText("a\0b\ud800c😀"), "a\ufffdb\ufffdc😀");
  });

  it("include all strings of a JSON value, also its keys", () => {
    assert.deepEqual(storable({ "k\0": ["\udfff", 1, null, { deep: "x\0" }] }), {
      "k\ufffd": ["\ufffd", 1, null, { deep: "x\ufffd" }],
    });
  });

  it("keep a key named __proto__", () => {
    const value = storable(JSON.parse('{"__proto__": {"a": 1}}'));
    assert.equal(JSON.stringify(value), '{"__proto__":{"a":1}}');
  });
});
