import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { storable, storableText } from "./storable.ts";

describe("what the database can hold", () => {
  it("has no NUL and no lone surrogate, and keeps its length", () => {
    assert.equal(storableText("a\0b\ud800c😀"), "a\ufffdb\ufffdc😀");
  });

  it("is made of any JSON value, keys included", () => {
    assert.deepEqual(storable({ "k\0": ["\udfff", 1, null, { deep: "x\0" }] }), {
      "k\ufffd": ["\ufffd", 1, null, { deep: "x\ufffd" }],
    });
  });

  it("keeps a key named __proto__ a key", () => {
    const value = storable(JSON.parse('{"__proto__": {"a": 1}}'));
    assert.equal(JSON.stringify(value), '{"__proto__":{"a":1}}');
  });
});
