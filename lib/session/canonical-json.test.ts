import assert from "node:assert/strict";
import { test } from "node:test";
import { canonicalJson, hashBody } from "./canonical-json.ts";

test("the order of keys does not matter, at any depth", () => {
  const left = { a: 1, b: { c: [{ d: 2, e: null }], 10: "x", 9: "y" } };
  const right = { b: { 9: "y", 10: "x", c: [{ e: null, d: 2 }] }, a: 1 };
  assert.equal(canonicalJson(left), canonicalJson(right));
  assert.equal(hashBody(left), hashBody(right));
});

test("different values have different hashes", () => {
  const values = [
    {},
    { a: 1 },
    { a: "1" },
    { a: [1] },
    { a: [1, 2] },
    { a: [2, 1] },
    { a: null },
    [],
    [{}],
    "",
    null,
    0,
    false,
  ];
  assert.equal(new Set(values.map(hashBody)).size, values.length);
});

test("the notation of numbers does not matter", () => {
  assert.equal(
    hashBody(JSON.parse('{"n":1.0,"m":1e2,"z":-0}')),
    hashBody(JSON.parse('{"n":1,"m":100,"z":0}')),
  );
});

test("names of Object.prototype are plain keys", () => {
  const value = JSON.parse('{"toString":1,"constructor":{"prototype":2}}');
  assert.equal(canonicalJson(value), '{"constructor":{"prototype":2},"toString":1}');
});

test("a hash is SHA-256 in hex", () => {
  assert.match(hashBody({}), /^[0-9a-f]{64}$/);
});
