import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { checkProfile } from "./check-profile.ts";
import { profiles } from "./profile.ts";

const closed = (properties: Record<string, unknown>, more: object = {}) => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
});
const many = (length: number, item: (index: number) => [string, unknown]) =>
  Object.fromEntries(Array.from({ length }, (_, index) => item(index)));
const nested = (levels: number): object =>
  levels === 0 ? { type: "string" } : closed({ a: nested(levels - 1) });
const text = { type: "string" };

const broken: [rule: RegExp, pointer: string, schema: unknown][] = [
  [/must be an object/, "", true],
  [/the root must have the type/, "", { type: "array", items: text }],
  [/the root must not be an anyOf/, "/anyOf", { ...closed({}), anyOf: [closed({})] }],
  [/minLength is not supported/, "/properties/a/minLength", closed({ a: { type: "string", minLength: 1 } })],
  [
    /oneOf is not supported/,
    "/properties/a/items/oneOf",
    closed({ a: { type: "array", items: { oneOf: [] } } }),
  ],
  [/default is not supported/, "/properties/a/default", closed({ a: { ...text, default: "x" } })],
  [/additionalProperties: false/, "", { type: "object", properties: {}, required: [] }],
  [/"a" must be required/, "", closed({ a: text }, { required: [] })],
  [/only properties may be required/, "/required", closed({}, { required: ["b"] })],
  [/the name "a b" is not supported/, "", closed({ "a b": text })],
  [
    /description must not accompany \$ref/,
    "/properties/a/description",
    closed({ a: { $ref: "#", description: "x" } }),
  ],
  [/\$ref must mean/, "/properties/a/$ref", closed({ a: { $ref: "#/$defs/b" } })],
  [/must have a type/, "/properties/a", closed({ a: {} })],
  [/an array must have items/, "/properties/a", closed({ a: { type: "array" } })],
  [
    /begin with the key "k"/,
    "/properties/a/anyOf",
    closed(
      { a: { anyOf: [closed({ k: text }), { $ref: "#/$defs/b" }] } },
      { $defs: { b: closed({ k: text, l: text }) } },
    ),
  ],
  [
    /at most 10 levels/,
    "/properties/a/properties/a/properties/a/properties/a/properties/a/properties/a/properties/a/properties/a/properties/a/properties/a",
    nested(10),
  ],
  [/at most 5000 properties/, "", closed(many(5_001, (index) => [`p${index}`, text]))],
  [
    /at most 1000 enum values/,
    "/properties/a",
    closed({ a: { type: "integer", enum: Array.from({ length: 1_001 }, (_, index) => index) } }),
  ],
  [
    /at most 15000 characters in an enum/,
    "/properties/a/enum",
    closed({ a: { type: "string", enum: Array.from({ length: 251 }, (_, index) => `${index}`.padEnd(60)) } }),
  ],
  [
    /at most 120000 characters/,
    "/properties/a",
    closed({ a: { type: "string", const: "x".repeat(120_000) } }),
  ],
];

describe("the strict profile", () => {
  for (const [rule, pointer, schema] of broken)
    test(`${rule.source}`, () => {
      const breach = checkProfile(schema, profiles.openai);
      assert.match(String(breach?.rule), rule);
      assert.equal(breach?.pointer, pointer);
    });

  test("accepts nine levels, recursion, and branches with different first keys", () => {
    assert.equal(checkProfile(nested(9), profiles.openai), undefined);
    const branches = {
      anyOf: [closed({ k: text }), closed({ l: { $ref: "#" } }), { type: ["string", "null"] }],
    };
    assert.equal(checkProfile(closed({ a: branches }), profiles.openai), undefined);
  });

  test("a provider without limits accepts any schema", () => {
    assert.equal(checkProfile({ oneOf: [true] }, profiles.none), undefined);
  });
});
