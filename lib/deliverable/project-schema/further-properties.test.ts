import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { checkDeclared, checkRoundTrip, projectStrictly } from "#lib/projection/testing/check-round-trip.ts";
import { compile, list, number, object, text, when } from "./schemas-testing.ts";

type Case = [name: string, schema: object, value: unknown];

describe("objects keep a list of further properties", () => {
  const spare = object({ b: text });
  const kept: Case[] = [
    [
      "if a dynamic reference may require others",
      object(
        { a: { ...spare, $dynamicRef: "#x" } },
        { required: ["z"], $dynamicAnchor: "x", $defs: { y: { $dynamicAnchor: "y" } } },
      ),
      { z: 1, a: { z: 1 } },
    ],
    [
      "if an alternative declares others in a part",
      object(
        { a: text },
        { anyOf: [{ properties: { d: object({ p: text }) } }, { properties: { d: object({ q: text }) } }] },
      ),
      { a: "x", d: { p: "x", q: "y" } },
    ],
    ["if the author asks for them", object({ a: text }, { additionalProperties: true }), { a: "x", z: 1 }],
    ["if the author describes them", object({ a: text }, { additionalProperties: {} }), { z: [1] }],
    ["if they are a map", object({ a: text }, { additionalProperties: number }), { z: 1 }],
    ["if some have a pattern", object({ a: text }, { patternProperties: { "^x": number } }), { x: 1, z: 2 }],
    ["if their names have rules", object({ a: text }, { propertyNames: { maxLength: 2 } }), { z: 1 }],
    ["if what remains is allowed", object({ a: text }, { unevaluatedProperties: true }), { z: 1 }],
    ["if they declare no property", { type: "object", required: ["a"] }, { a: 1, z: 2 }],
    ["if all declared properties must be absent", object({ a: false }), { z: 1 }],
    [
      "if another schema describes them",
      { type: "object", allOf: [object({ a: text }), { additionalProperties: text }] },
      { z: "x" },
    ],
    [
      "if an alternative around them describes them",
      object(
        { a: text },
        {
          anyOf: [
            { additionalProperties: number, properties: { a: {} } },
            { required: ["a"], properties: { c: number } },
          ],
        },
      ),
      { a: "x", z: true },
    ],
    [
      "if an alternative declares others",
      object(
        { a: text },
        {
          anyOf: [
            { properties: { p: text }, required: ["p"] },
            { properties: { q: text }, required: ["q"] },
          ],
        },
      ),
      { p: "x", q: "y" },
    ],
    [
      "if a condition declares others",
      object({ a: text }, when({ required: ["a"] }, { properties: { p: text } })),
      { p: 5 },
    ],
  ];
  /** Here each valid value needs a property that is not declared. */
  const needed: Case[] = [
    ["if more are needed than there are", object({ a: text }, { minProperties: 2 }), { a: "x", z: 1 }],
    [
      "if more are needed than can be together",
      object({ a: text, b: text }, { minProperties: 2, not: { required: ["a", "b"] } }),
      { a: "x", z: 1 },
    ],
    [
      "if an alternative requires another name",
      object({ a: text }, { anyOf: [{ required: ["y"] }, { required: ["z"] }] }),
      { z: 1 },
    ],
    [
      "if a condition requires another name",
      object(
        { a: { const: "x" } },
        { required: ["a"], ...when({ properties: { a: { const: "x" } } }, { required: ["z"] }) },
      ),
      { a: "x", z: 1 },
    ],
    [
      "if a property depends on another name",
      object({ a: text }, { required: ["a"], dependentRequired: { a: ["z"] } }),
      { a: "x", z: 1 },
    ],
    [
      "if a dependent schema requires another name",
      object({ a: text }, { required: ["a"], dependentSchemas: { a: { required: ["z"] } } }),
      { a: "x", z: 1 },
    ],
    [
      "if not having another name is wrong",
      object({ a: text }, { not: { properties: { z: false } } }),
      { z: 1 },
    ],
    ["if few properties are wrong", object({ a: text }, { not: { maxProperties: 1 } }), { a: "x", z: 1 }],
    [
      "if one object is wrong",
      object({ a: { const: 1 } }, { required: ["a"], not: { const: { a: 1 } } }),
      { a: 1, z: 1 },
    ],
    [
      "if alternatives differ only in others",
      { type: "object", oneOf: [object({ a: text }), object({ b: text })] },
      { a: 1, b: "x" },
    ],
    [
      "if parts of alternatives differ only in others",
      {
        type: "object",
        oneOf: [
          object({ d: spare }, { required: ["d"] }),
          object({ d: object({ c: text }) }, { required: ["d"] }),
        ],
      },
      { d: { b: "x", c: 1 } },
    ],
    [
      "if lists of alternatives differ only in others",
      object({ l: { oneOf: [list(object({ a: text })), list(object({ b: text }))] } }, { required: ["l"] }),
      { l: [{ a: 1 }] },
    ],
    [
      "if a condition requires other names in a part",
      object({ a: spare }, { required: ["a"], ...when({}, { properties: { a: { required: ["z"] } } }) }),
      { a: { z: 1 } },
    ],
    [
      "if a union that is merged requires other names in a part",
      object(
        { a: spare },
        {
          required: ["a"],
          anyOf: [{ properties: { a: { required: ["y"] } } }, { properties: { a: { required: ["z"] } } }],
          oneOf: [{ properties: { k: text } }, false],
        },
      ),
      { a: { z: 1 } },
    ],
    [
      "if a list must contain others",
      object({ a: list(spare, { contains: { required: ["z"] } }) }, { required: ["a"] }),
      { a: [{ z: 1 }] },
    ],
    [
      "if the items of a list must differ in others",
      object(
        { a: list(object({ b: { const: 1 } }, { required: ["b"] }), { minItems: 2, uniqueItems: true }) },
        { required: ["a"] },
      ),
      { a: [{ b: 1 }, { b: 1, z: 1 }] },
    ],
    [
      "if a pattern requires others in a named property",
      object({ a: spare }, { required: ["a"], patternProperties: { "^a": { required: ["z"] } } }),
      { a: { z: 1 } },
    ],
    [
      "if two patterns require others in one property",
      {
        type: "object",
        required: ["xy"],
        minProperties: 2,
        patternProperties: { "^x": spare, y$: { required: ["z"] } },
        additionalProperties: false,
      },
      { xy: { z: 1 }, xxy: { z: 2 } },
    ],
    [
      "if the schema around a union counts properties",
      object(
        { u: { type: "object", minProperties: 2, anyOf: [object({ a: text }), object({ b: text })] } },
        { required: ["u"] },
      ),
      { u: { a: "x", z: 1 } },
    ],
  ];
  for (const [name, schema, value] of [...kept, ...needed])
    test(`${name}`, () => {
      assert.ok(compile(schema)(value), JSON.stringify(value));
      checkRoundTrip(projectStrictly({ ...schema }), value);
    });

  test("in the alternatives of a union, but not in another use of the same definition", () => {
    const $defs = { one: object({ a: text }), other: object({ b: text }) };
    const oneOf = [{ $ref: "#/$defs/one" }, { $ref: "#/$defs/other" }];
    const schema = object({ alone: { $ref: "#/$defs/one" }, union: { oneOf } }, { $defs });
    const validate = compile(schema);
    const projection = projectStrictly(schema);
    assert.deepEqual(checkDeclared(projection, { union: { a: "x", b: 1 } }, validate), []);
    assert.deepEqual(checkDeclared(projection, { alone: { a: "x", b: 1 } }, validate), ["b"]);
  });
});
