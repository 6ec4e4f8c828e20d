import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Schema, type SchemaDraft, Validator } from "@cfworker/json-schema";
import { realSchemas } from "#lib/projection/testing/real-schemas.ts";
import { compileSchema } from "./compile-schema.ts";
import { ordinarySchemas } from "./testing/ordinary-schemas.ts";

/** Schemas that the second validator misreads, each with the reason. */
const exceptions: Record<string, string> = {
  "a dynamic reference of 2020-12": "it does not follow `$dynamicRef`",
  "an id next to a reference, which draft-07 ignores": "it takes the ignored id as the base of the reference",
  "a pattern that Unicode mode refuses": "it throws for a pattern that Unicode mode refuses",
};

const draftOf = ($schema: unknown): SchemaDraft =>
  (["2019-09", "7", "4"] as const).find((draft) =>
    new RegExp(`(draft-0|draft/)${draft}/`).test(String($schema)),
  ) ?? (/draft-06/.test(String($schema)) ? "7" : "2020-12");

const samples = [
  ...realSchemas.map(({ name, schema, values }) => ({ name, schema, values: [...values] })),
  ...ordinarySchemas.map(({ name, schema, fits = [], breaks = [] }) => ({
    name,
    schema,
    values: [...fits, ...breaks.map(([value]) => value)],
  })),
];

describe("a second validator agrees on the values of", () => {
  for (const { name, schema, values } of samples)
    test(name, { skip: exceptions[name] ?? false }, () => {
      const compiled = compileSchema(structuredClone(schema));
      assert.ok(compiled.ok, JSON.stringify(compiled));
      const second = new Validator(structuredClone(schema) as Schema, draftOf(schema.$schema));
      for (const value of [...values, ...values.map(leaveOutFirst)])
        assert.equal(compiled.validate(value) === true, second.validate(value).valid, JSON.stringify(value));
    });
});

/** Returns an object without its first property, which is often required. */
function leaveOutFirst(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).slice(1));
}
