import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { createSchemaChecker } from "#lib/deliverable/admission/create-schema-checker.ts";
import { buildValue } from "#lib/model/demo/build-value.ts";
import { NO_FACTS } from "#lib/model/demo/page-facts.ts";

const checker = createSchemaChecker();
after(() => checker.close());

const nothing = { ...NO_FACTS, summary: "Nothing was read." };
const object = (properties: Record<string, unknown>) => ({
  type: "object",
  properties,
  required: Object.keys(properties),
});

describe("the demo model satisfies the rules that the projection states in descriptions", () => {
  for (const [what, schema] of Object.entries({
    formats: object({
      mail: { type: "string", format: "email" },
      day: { type: "string", format: "date" },
      at: { type: "string", format: "date-time", description: "When it was read" },
      id: { type: "string", format: "uuid" },
    }),
    "lengths of text": object({
      brief: { type: "string", maxLength: 4 },
      long: { type: "string", minLength: 40, maxLength: 60 },
    }),
    patterns: object({
      code: { type: "string", pattern: "^[A-Z]{3}-\\d{2}$" },
      version: { type: "string", pattern: "^v\\d\\. [A-Z]$" },
    }),
    "bounds of numbers": object({
      count: { type: "integer", minimum: 10, maximum: 20, multipleOf: 5 },
      share: { type: "number", exclusiveMinimum: 0, maximum: 1 },
      below: { type: "number", exclusiveMaximum: -2.5 },
    }),
    "lengths of lists": object({
      few: { type: "array", items: { type: "string" }, minItems: 3, uniqueItems: true },
      one: { type: "array", items: { type: "boolean" }, minItems: 1, maxItems: 1 },
    }),
    "discriminated branches": object({
      shape: {
        oneOf: [
          object({ type: { const: "circle" }, radius: { type: "number", exclusiveMinimum: 0 } }),
          object({ type: { const: "square" }, side: { type: "number", minimum: 1 } }),
        ],
      },
    }),
  }))
    it(what, async () => {
      const format = await checker.formatOf(schema);
      const judged = await checker.checkAnswer(schema, JSON.stringify(buildValue(format.schema, nothing)));
      assert.equal(judged.kind, "fits", JSON.stringify(judged));
    });
});
