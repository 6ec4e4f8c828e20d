import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { compileSchema } from "./compile-schema.ts";

function validate(schema: object, value: unknown): boolean {
  const compiled = compileSchema(structuredClone(schema) as Record<string, unknown>);
  assert.ok(compiled.ok, JSON.stringify(compiled));
  return compiled.validate(value) === true;
}

const DRAFTS = [
  "http://json-schema.org/draft-04/schema#",
  "http://json-schema.org/draft-06/schema#",
  "http://json-schema.org/draft-07/schema#",
  "https://json-schema.org/draft/2019-09/schema",
  "https://json-schema.org/draft/2020-12/schema",
];

describe("patterns", () => {
  const letters = { type: "string", pattern: "^\\p{L}+$" };
  const code = { type: "string", pattern: "^[A-Z]+\\-\\d+$" };

  for (const $schema of DRAFTS)
    test(`a pattern that Unicode mode refuses changes no other pattern: ${$schema}`, () => {
      const schema = { $schema, type: "object", properties: { name: letters, code } };
      assert.equal(validate(schema, { name: "Zoë", code: "AB-12" }), true);
      assert.equal(validate(schema, { name: "p{L}" }), false);
      assert.equal(validate(schema, { code: "AB12" }), false);
    });

  test("names of properties are matched in the same way", () => {
    const schema = {
      type: "object",
      patternProperties: { "^\\p{Lu}$": { type: "number" }, "^x\\-": { type: "string" } },
      additionalProperties: false,
    };
    assert.equal(validate(schema, { Ä: 1, "x-a": "a" }), true);
    assert.equal(validate(schema, { Ä: "a" }), false);
    assert.equal(validate(schema, { "p{Lu}": 1 }), false);
    const unevaluated = { ...schema, additionalProperties: undefined, unevaluatedProperties: false };
    assert.equal(validate(unevaluated, { Ä: 1, "x-a": "a" }), true);
    assert.equal(validate(unevaluated, { b: 1 }), false);
  });

  test("one pattern may have both notations", () => {
    const schema = { properties: { a: { pattern: "^\\p{L}+\\-\\d$" } } };
    assert.equal(validate(schema, { a: "Zoë-1" }), true);
    assert.equal(validate(schema, { a: "p{L}-1" }), false);
  });

  test("a character outside the BMP is one character next to a pattern that Unicode mode refuses", () => {
    const schema = { properties: { a: { pattern: "^.$" }, b: { pattern: "^[\\w-.]+$" } } };
    assert.equal(validate(schema, { a: "😀", b: "a-b.c" }), true);
  });

  test("a pattern without an equivalent in Unicode mode is accepted, and changes no other pattern", () => {
    const schema = { properties: { a: { pattern: "^(?=Z)*Z$" }, b: letters } };
    assert.equal(validate(schema, { a: "Z", b: "Zoë" }), true);
  });
});
