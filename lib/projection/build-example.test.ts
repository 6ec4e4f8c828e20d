import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { buildExample } from "./build-example.ts";
import { projectStrictly } from "./testing/check-round-trip.ts";
import { realSchemas } from "./testing/real-schemas.ts";

describe("examples of a projected schema", () => {
  for (const { name, schema } of realSchemas)
    test(`${name}: are valid, and can be decoded`, () => {
      const projection = projectStrictly(schema, { form: "words" });
      for (const options of [{}, { branch: 1 }, { branch: 2, levelsMax: 30 }, { levelsMax: 0 }]) {
        const example = buildExample(projection.schema, options);
        assert.ok(projection.validate(example), JSON.stringify(projection.validate.errors));
        assert.ok(projection.foldBack(example).ok, JSON.stringify(example));
      }
    });

  test("recursion ends in the shortest form", () => {
    const node = {
      type: "object",
      properties: { next: { anyOf: [{ $ref: "#" }, { type: "null" }] } },
      required: ["next"],
    };
    const { schema } = projectStrictly({ ...node, additionalProperties: false });
    assert.deepEqual(buildExample(schema, { levelsMax: 3 }), { next: { next: null } });
  });
});
