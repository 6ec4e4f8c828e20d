import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { profiles, schemaForms } from "#lib/projection/profile/profile.ts";
import { projectSchema } from "#lib/projection/project-schema.ts";
import { arbitrarySample, draftNames } from "#lib/projection/testing/arbitrary-schema.ts";
import { checkDeclared, projectStrictly } from "#lib/projection/testing/check-round-trip.ts";
import { providerCheckers } from "#lib/projection/testing/provider-checkers.ts";
import { compileSchema } from "../admission/compile-schema.ts";

const runs = 60;

describe("any schema", () => {
  for (const draft of draftNames)
    test(`${draft}: valid values survive the round trip without undeclared properties, and the projection follows the profile`, () => {
      let valid = 0;
      fc.assert(
        fc.property(arbitrarySample(draft), ({ schema, value }) => {
          const compiled = compileSchema(structuredClone(schema));
          if (!compiled.ok || compiled.validate(value) !== true) return;
          valid += 1;
          checkDeclared(projectStrictly(schema), value, compiled.validate);
        }),
        { numRuns: runs },
      );
      assert.ok(valid > runs / 2, `only ${valid} of ${runs} values were valid`);
    });

  for (const profile of [profiles.openai, profiles.anthropic, profiles.gemini])
    for (const form of schemaForms)
      test(`${profile.name}, ${form}: the projection follows the provider's documents, and valid values survive`, () => {
        fc.assert(
          fc.property(fc.constantFrom(...draftNames).chain(arbitrarySample), ({ schema, value }) => {
            const compiled = compileSchema(structuredClone(schema));
            if (!compiled.ok) return;
            const projection = projectStrictly(schema, { profile, form });
            assert.deepEqual(providerCheckers[profile.name]?.(projection.schema), []);
            if (compiled.validate(value) === true) checkDeclared(projection, value, compiled.validate);
          }),
          { numRuns: runs },
        );
      });

  test("the same schema always has the same projection", () => {
    fc.assert(
      fc.property(arbitrarySample("2020-12"), ({ schema }) => {
        const before = JSON.stringify(schema);
        const one = projectSchema(schema, profiles.openai);
        const other = projectSchema(structuredClone(schema), profiles.openai);
        assert.equal(JSON.stringify(one.schema), JSON.stringify(other.schema));
        assert.deepEqual(one.folded, other.folded);
        assert.equal(JSON.stringify(schema), before, "the caller's schema is left as it was");
      }),
      { numRuns: 60 },
    );
  });

  test("decoding never throws, whatever the model writes", () => {
    fc.assert(
      fc.property(
        arbitrarySample("2020-12"),
        fc.jsonValue(),
        fc.string(),
        ({ schema, value }, garbage, pointer) => {
          const { foldBack, project, toProjectedPath } = projectSchema(schema, profiles.openai);
          for (const each of [garbage, value, { entries: garbage, additional: garbage }]) {
            foldBack(each);
            project(each);
            toProjectedPath(`/${pointer}`, each);
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});
