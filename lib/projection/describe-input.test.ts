import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describeInput } from "./describe-input.ts";
import { realSchemas } from "./testing/real-schemas.ts";

/** Describes an object whose only property has the given schema. @returns what the model reads of that property. */
const describeProperty = (schema: unknown, $schema?: string) =>
  Object(describeInput({ $schema, type: "object", properties: { a: schema } })?.properties).a;

const draft07 = "http://json-schema.org/draft-07/schema#";
const query = { type: "object", properties: { id: { type: "string" } }, required: ["id"] };

describe("a tool's input schema, as the model reads it", () => {
  it("is an object without properties if the schema is empty", () => {
    for (const schema of [
      {},
      { type: "object" },
      { type: ["object", "null"] },
      { $ref: "#" },
      { enum: [{}] },
    ])
      assert.deepEqual(describeInput(schema), { type: "object", properties: {} });
  });

  it("is undefined if the schema does not describe an object", () => {
    const list = { $ref: "#/$defs/a", $defs: { a: { type: "array" } } };
    for (const schema of [null, true, "object", [], { type: "array" }, { type: ["string"] }, list])
      assert.equal(describeInput(schema), undefined);
  });

  it("has the parameters behind a reference at the root, in every draft", () => {
    assert.deepEqual(describeInput({ $ref: "#/$defs/query", $defs: { query } }), query);
    const chain = { $ref: "#/definitions/a", definitions: { a: { $ref: "#/definitions/query" }, query } };
    assert.deepEqual(describeInput({ $schema: draft07, ...chain }), query);
    assert.deepEqual(describeInput({ $ref: "q", $defs: { q: { $id: "q", ...query } } }), query);
    assert.deepEqual(describeInput({ $ref: "#q", $defs: { q: { $anchor: "q", ...query } } }), query);
  });

  it("has the alternatives of the root in one object, and says that they are alternatives", () => {
    const one = { properties: { a: { type: "string" } }, required: ["a"] };
    const other = { properties: { b: { type: "integer" } }, required: ["b"] };
    const described = describeInput({ type: "object", allOf: [query], oneOf: [one, other] });
    assert.deepEqual(described?.properties, {
      id: { type: "string" },
      a: { type: "string" },
      b: { type: "integer" },
    });
    assert.deepEqual(described?.required, ["id"]);
    assert.match(String(described?.description), /^Matches exactly one of: /);
  });

  it("keeps the types of tuples, in every draft", () => {
    const prefixItems = [{ type: "string" }, { type: "integer" }];
    const closed = { type: "array", prefixItems, items: { type: ["string", "integer"] }, maxItems: 2 };
    const { description, ...tuple } = describeProperty({ type: "array", prefixItems, items: false });
    assert.deepEqual([tuple, description], [closed, "At most 2 items."]);
    const { description: _, ...older } = describeProperty(
      { type: "array", items: prefixItems, additionalItems: false },
      draft07,
    );
    assert.deepEqual(older, closed);
    const open = describeProperty({ type: "array", items: prefixItems }, draft07);
    assert.deepEqual(open, { type: "array", prefixItems, items: {} });
  });

  it("keeps maps, properties by pattern, and free objects and lists", () => {
    assert.deepEqual(describeProperty({ type: "object", additionalProperties: { type: "number" } }), {
      type: "object",
      additionalProperties: { type: "number" },
    });
    const byPattern = { patternProperties: { "^x-": { type: "string" } }, additionalProperties: false };
    assert.deepEqual(describeProperty({ type: "object", ...byPattern }), {
      type: "object",
      additionalProperties: { type: "string" },
      description: "Every further property name matches `^x-`.",
    });
    assert.deepEqual(describeProperty({ type: "object" }), { type: "object", properties: {} });
    assert.deepEqual(describeProperty({ type: "array" }), { type: "array", items: {} });
    assert.deepEqual(describeProperty({}), {});
  });

  it("leaves objects open that say nothing about further properties, and writes each definition once", () => {
    const pet = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
    const oneOf = [{ $ref: "#/$defs/pet" }, { type: "object", properties: { id: { type: "string" } } }];
    const $defs = { pet };
    const schema = { type: "object", properties: { a: { $ref: "#/$defs/pet" }, b: { oneOf } }, $defs };
    const described = describeInput(schema);
    assert.deepEqual(described?.$defs, $defs);
    assert.ok(!JSON.stringify(described).includes("additionalProperties"));
  });

  it("states conditions, dependencies and limits in words, with the properties that they bring", () => {
    const described = describeInput({
      type: "object",
      properties: { kind: { enum: ["a", "b"] } },
      if: { properties: { kind: { const: "a" } } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
      then: { properties: { x: { type: "string" } }, required: ["x"] },
      dependentRequired: { x: ["kind"] },
    });
    assert.deepEqual(described?.properties, {
      kind: { type: "string", enum: ["a", "b"] },
      x: { type: "string" },
    });
    assert.match(
      String(described?.description),
      /^If it matches .*"const":"a".*With the property "x", also "kind"\./,
    );
    const limited = { type: "integer", description: "How many", minimum: 1, default: 3 };
    assert.deepEqual(describeProperty(limited), {
      type: "integer",
      description: "How many. At least 1. Default: 3.",
    });
  });

  it("quotes patterns as they are, also those that Unicode mode refuses", () => {
    for (const pattern of ["^[\\w-.]+\\-$", "a}", "^\\p{L}+$", "("])
      assert.deepEqual(describeProperty({ type: "string", pattern }), {
        type: "string",
        description: `Matches the pattern \`${pattern}\`.`,
      });
  });

  it("keeps alternatives below the root, and recursion", () => {
    const tree = { type: "object", properties: { kids: { type: "array", items: { $ref: "#/$defs/tree" } } } };
    const schema = { type: "object", properties: { a: { $ref: "#/$defs/tree" } }, $defs: { tree } };
    assert.deepEqual(describeInput(schema), schema);
    const circle = { type: "object", properties: { k: { type: "string", const: "c" } }, required: ["k"] };
    assert.deepEqual(describeProperty({ anyOf: [circle, { type: "null" }] }), {
      anyOf: [circle, { type: "null" }],
    });
    assert.deepEqual(describeProperty({ type: ["string", "null"] }), { type: ["string", "null"] });
  });

  it("keeps property names unchanged", () => {
    const names = '{"__proto__":{"type":"string"},"a b":{"type":"number"},"constructor":{"type":"boolean"}}';
    const { properties } = describeInput(JSON.parse(`{"type":"object","properties":${names}}`)) ?? {};
    assert.deepEqual(Object.keys(Object(properties)).toSorted(), ["a b", "constructor"]);
  });

  it("accepts the values that the tool accepts, unless a property depends on a condition or on merged alternatives", () => {
    for (const { name, schema, values } of realSchemas) {
      // Its property `c` may be anything if the alternative that describes it is not the one that fits.
      if (name === "two choices at once") continue;
      if (/"(if|dependentSchemas|dependencies)":/.test(JSON.stringify(schema))) continue;
      const described = describeInput(schema);
      if (!described) continue;
      const validate = new Ajv2020({ strict: false, logger: false, ownProperties: true }).compile(described);
      for (const value of values) assert.ok(validate(value), `${name}: ${JSON.stringify(validate.errors)}`);
    }
  });

  it("is bounded for hostile schemas: deep, wide, long texts, and references that multiply", () => {
    let deep: unknown = {};
    for (let depth = 0; depth < 5_000; depth++) deep = { type: "object", properties: { a: deep } };
    const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`p${at}`, { type: "string" }]));
    const chain = Object.fromEntries(
      Array.from({ length: 60 }, (_, at) => [
        `d${at}`,
        { properties: { l: { $ref: `#/$defs/d${at + 1}` }, r: { $ref: `#/$defs/d${at + 1}` } } },
      ]),
    );
    const schemas = [
      { type: "object", properties: { deep } },
      { type: "object", properties: { wide: { type: "object", properties: wide } } },
      { type: "object", $ref: "#/$defs/d0", $defs: chain },
      { type: "object", description: "x".repeat(100_000) },
    ];
    for (const schema of schemas) assert.ok(JSON.stringify(describeInput(schema)).length < 20_000);
  });
});
