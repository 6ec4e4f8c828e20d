import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { checkRoundTrip, projectStrictly } from "#lib/projection/testing/check-round-trip.ts";
import { compile, list, number, object, text, when } from "./schemas-testing.ts";

const tagged = (kind: string, properties: object, more: object = {}) =>
  object({ kind: { const: kind }, ...properties }, { required: ["kind"], ...more });

/** Whether an object in the projected form has a list of further properties in addition to its own. */
const hasList = (schema: object): boolean =>
  JSON.stringify(projectStrictly({ ...schema }).schema).includes('"additional"');

type Case = [name: string, schema: object, value: unknown];

describe("objects that say nothing about further properties", () => {
  const closed: Case[] = [
    [
      "in a choice of types that extend another",
      object(
        {
          a: {
            anyOf: [
              { allOf: [{ $ref: "#/$defs/pet" }, { properties: { lives: number } }] },
              { allOf: [{ $ref: "#/$defs/pet" }, { properties: { breed: text } }] },
            ],
          },
        },
        { $defs: { pet: object({ name: text }) } },
      ),
      { a: { name: "x", breed: "y" } },
    ],
    ["of the root", object({ a: text }), { a: "x" }],
    ["at every level", object({ a: list(object({ b: object({ c: text }) })) }), { a: [{ b: { c: "x" } }] }],
    [
      "in the values of a map",
      { type: "object", additionalProperties: object({ b: text }) },
      { x: { b: "x" } },
    ],
    [
      "in the values of a map with one pattern",
      { type: "object", patternProperties: { "^x": object({ b: text }) }, additionalProperties: false },
      { x: { b: "x" } },
    ],
    [
      "in every draft",
      { $schema: "http://json-schema.org/draft-04/schema#", ...object({ a: text }, { const: 1 }) },
      { a: "x" },
    ],
    ["that name required properties elsewhere", object({ a: text }, { required: ["b"] }), { b: [1] }],
    [
      "that are merged",
      { type: "object", allOf: [object({ a: text }), object({ b: text }, { required: ["b"] })] },
      { a: "x", b: "y" },
    ],
    ["with recursion", object({ next: { $ref: "#" } }), { next: { next: {} } }],
    [
      "with a choice of required properties",
      object({ a: text, b: text }, { anyOf: [{ required: ["a"] }, { required: ["b"] }] }),
      { a: "x", b: "y" },
    ],
    [
      "with exclusive properties",
      object({ a: text, b: text }, { not: { required: ["a", "b"] } }),
      { b: "x" },
    ],
    [
      "with a condition on their own properties",
      object({ a: text, b: text }, when({ properties: { a: { const: "x" } } }, { required: ["b"] })),
      { a: "x", b: "y" },
    ],
    [
      "with dependent properties",
      object({ a: text, b: text }, { dependentRequired: { a: ["b"] } }),
      { a: "x", b: "y" },
    ],
    [
      "with a number of properties that are required anyway",
      object({ a: text }, { required: ["a"], minProperties: 1, maxProperties: 3 }),
      { a: "x" },
    ],
    [
      "with a property that must be absent",
      object({ a: text, b: false }, { not: { required: ["b"] } }),
      { a: "x" },
    ],
    [
      "in alternatives with a constant",
      object({ a: { oneOf: [tagged("p", { b: text }), tagged("q", { c: object({ d: text }) })] } }),
      { a: { kind: "q", c: { d: "x" } } },
    ],
    [
      "in alternatives by type",
      object({ a: { oneOf: [object({ b: text }), text, { type: "null" }, list(text)] } }),
      { a: { b: "x" } },
    ],
    [
      "in alternatives that require different properties",
      object(
        {},
        { oneOf: [object({ b: text }, { required: ["b"] }), object({ c: text }, { required: ["c"] })] },
      ),
      { c: "x" },
    ],
    [
      "in a choice of types",
      object(
        { a: { anyOf: [{ $ref: "#/$defs/cat" }, { $ref: "#/$defs/dog" }] } },
        { $defs: { cat: object({ name: text, lives: number }), dog: object({ name: text, breed: text }) } },
      ),
      { a: { name: "x", breed: "y" } },
    ],
  ];
  for (const [name, schema, value] of closed)
    test(`${name}: are closed, so that the model does not write "additional": null`, () => {
      assert.ok(compile(schema)(value));
      assert.ok(!hasList(schema));
      checkRoundTrip(projectStrictly({ ...schema }), value);
    });

  test("have no place for other properties, and the refusal names them", () => {
    const { project, foldBack } = projectStrictly(object({ a: object({ b: text }) }));
    const value = { a: { b: "x", c: 1, d: 2 } };
    assert.deepEqual(project(value), { ok: false, undeclared: [{ object: value.a, names: ["c", "d"] }] });
    const back = foldBack({ a: { b: "x" }, additional: null });
    assert.deepEqual(back, { ok: false, path: "", message: 'must not have the property "additional"' });
  });
});

test("keywords next to a $ref that the draft ignores require nothing", () => {
  const ignored = { $ref: "#/definitions/a", additionalProperties: false, required: ["z"] };
  const a = { allOf: [ignored, { minProperties: 1 }] };
  const schema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    ...object({ a }, { required: ["a"] }),
    definitions: { a: object({ q: text }, { required: ["q"] }) },
  };
  assert.ok(compile(schema)({ a: { q: "x" } }));
  const projection = projectStrictly(schema);
  assert.ok(projection.hasValue);
  checkRoundTrip(projection, { a: { q: "x" } });
});
