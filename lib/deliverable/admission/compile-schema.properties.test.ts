import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type SchemaDraft, Validator } from "@cfworker/json-schema";
import fc from "fast-check";
import { arbitrarySample, type DraftName } from "#lib/projection/testing/arbitrary-schema.ts";
import { compileSchema } from "./compile-schema.ts";

/**
 * The drafts to compare. Draft-04 is left out: `if` and `const` are not keywords of this draft, but the second
 * validator applies them anyway.
 */
const drafts: [DraftName, SchemaDraft][] = [
  ["draft-07", "7"],
  ["2019-09", "2019-09"],
  ["2020-12", "2020-12"],
];

const objects = fc
  .dictionary(fc.constantFrom("id", "name", "kind", "a b", "other"), fc.jsonValue({ maxDepth: 2 }))
  .map((value): object => JSON.parse(JSON.stringify(value)));

/** Returns false for schemas that ajv or the second validator is known to misread. */
function isReadCorrectlyByBoth(schema: string): boolean {
  // Ajv ignores the schema of a property named `__proto__`.
  if (schema.includes("__proto__")) return false;
  // The second validator does not resolve references inside the dependencies of properties with these names.
  if (/"dependencies":\{"(id|\$ref|constructor)"/.test(schema)) return false;
  // Inside `then` and `else`, the second validator wrongly counts properties as evaluated if a keyword next to `then`
  // or `else` evaluated them.
  return !(schema.includes('"unevaluated') && /"(then|else)"/.test(schema));
}

describe("a second validator", () => {
  for (const [name, draft] of drafts)
    test(`${name}: agrees on which values are valid`, () => {
      fc.assert(
        fc.property(arbitrarySample(name), objects, ({ schema, value }, other) => {
          fc.pre(isReadCorrectlyByBoth(JSON.stringify(schema)));
          const compiled = compileSchema(structuredClone(schema));
          assert.ok(compiled.ok, JSON.stringify(compiled));
          const second = new Validator(JSON.parse(JSON.stringify(schema)), draft);
          for (const each of [value, other, { ...Object(value), ...other }])
            assert.equal(compiled.validate(each), second.validate(each).valid, JSON.stringify(each));
        }),
        { numRuns: 40 },
      );
    });
});
