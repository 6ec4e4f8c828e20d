import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fitSchema } from "./fit-schema.ts";

/** Fits an object schema whose only property has the given schema. @returns the fitted schema of that property. */
const fitProperty = (schema: unknown) =>
  Object(fitSchema({ type: "object", properties: { a: schema } })?.properties).a;

describe("a tool's input schema, fitted for providers", () => {
  it("keeps valid JSON Schema keywords", () => {
    const schema = {
      type: "object",
      description: "a deal",
      properties: {
        id: { type: "string", pattern: "^d-\\d+$", minLength: 3 },
        size: { type: ["integer", "null"], minimum: 1, default: 1 },
        tags: { type: "array", items: { enum: ["a", "b"] }, maxItems: 4 },
        to: { anyOf: [{ $ref: "#/$defs/person" }, { type: "null" }] },
      },
      required: ["id"],
      additionalProperties: false,
      $defs: { person: { type: "object", properties: { boss: { $ref: "#/$defs/person" } } } },
    };
    assert.deepEqual(fitSchema(schema), schema);
  });

  it("is an object without properties if the schema is empty", () => {
    const empty = { type: "object", properties: {} };
    for (const schema of [{}, { type: "object" }, { type: ["object", "null"] }, { $ref: "#" }])
      assert.deepEqual(fitSchema(schema), empty);
  });

  it("is undefined if the schema does not describe an object", () => {
    for (const schema of [null, true, "object", [], { type: "array" }, { type: ["string"] }, { type: 7 }])
      assert.equal(fitSchema(schema), undefined);
  });

  it("has no alternatives at its root: their properties move to the root", () => {
    const schema = {
      allOf: [{ properties: { a: { type: "string" } }, required: ["a"] }],
      oneOf: [{ properties: { b: {} }, required: ["b"] }, { properties: { c: {} } }],
      not: {},
    };
    assert.deepEqual(fitSchema(schema), {
      type: "object",
      properties: { a: { type: "string" }, b: {}, c: {} },
      required: ["a"],
    });
  });

  it("loses keywords that are unknown or whose value has the wrong type", () => {
    const bad = {
      $schema: "x",
      $id: "y",
      $dynamicRef: "#z",
      unevaluatedProperties: false,
      "x-own": 1,
      type: "text",
      properties: [],
      required: "a",
      minimum: "1",
      pattern: "(",
      enum: [],
      anyOf: [],
    };
    assert.deepEqual(fitProperty(bad), {});
    assert.deepEqual(fitProperty({ type: "array" }), { type: "array", items: {} });
    assert.deepEqual(fitProperty({ type: "array", items: [{ type: "string" }] }), {
      type: "array",
      items: {},
    });
    assert.deepEqual(fitProperty(true), {});
  });

  it("loses external, dangling and circular references, and keeps recursive schemas", () => {
    for (const $ref of ["https://evil.example/s", "#/$defs/none", "#anchor", "#/$defs/%zz"])
      assert.deepEqual(fitProperty({ $ref }), {});
    const circle = {
      $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } },
      properties: { x: { $ref: "#/$defs/a" } },
    };
    assert.deepEqual(fitSchema(circle)?.$defs, { a: {}, b: {} });
    assert.deepEqual(fitProperty({ $ref: "#" }), { $ref: "#" });
    assert.deepEqual(fitProperty({ properties: { b: { $ref: "#/properties/a" } } }), {
      properties: { b: { $ref: "#/properties/a" } },
    });
  });

  it("is computed fast for hostile schemas: deep, wide, or with catastrophic patterns", () => {
    let deep: unknown = {};
    for (let depth = 0; depth < 5_000; depth++)
      deep = { type: "object", properties: { a: deep }, default: deep };
    const wide = Object.fromEntries(
      Array.from({ length: 50_000 }, (_, index) => [`p${index}`, { type: "string" }]),
    );
    const chain = Object.fromEntries(
      Array.from({ length: 1_900 }, (_, index) => [`a${index}`, { $ref: `#/$defs/a${index + 1}` }]),
    );
    assert.equal(Object(fitSchema({ type: "object", $defs: chain })?.$defs).a0.$ref, undefined);
    const whole = { ...chain, a1900: { type: "string" } };
    assert.deepEqual(fitSchema({ type: "object", $defs: whole })?.$defs, whole);
    assert.ok(JSON.stringify(fitSchema({ type: "object", properties: { deep } })).length < 2_000);
    assert.ok(fitSchema({ type: "object", properties: wide }));
    assert.deepEqual(fitProperty({ pattern: "^(a+)+$" }), { pattern: "^(a+)+$" });
  });

  it("keeps property names unchanged", () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"type":{"type":"number"}}}',
    );
    assert.deepEqual(JSON.stringify(fitSchema(schema)), JSON.stringify(schema));
    assert.equal(fitSchema(JSON.parse('{"constructor":{"a":1},"toString":1}'))?.constructor, Object);
  });
});
