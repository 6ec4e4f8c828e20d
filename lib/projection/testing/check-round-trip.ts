import assert from "node:assert/strict";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { checkProfile } from "../profile/check-profile.ts";
import { profiles } from "../profile/profile.ts";
import { type Projection, projectSchema } from "../project-schema.ts";

// All tests share one instance, because compiling the meta-schema takes longer than compiling the tested schemas.
const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });

/** Projects a schema for a strict provider. The projected schema must follow the provider's rules and compile. */
export function projectStrictly(
  schema: Record<string, unknown>,
): Projection & { validate: ValidateFunction } {
  const projection = projectSchema(schema, profiles.openai);
  assert.equal(checkProfile(projection.schema, profiles.openai), undefined);
  const validate = ajv.compile(projection.schema);
  ajv.removeSchema(projection.schema);
  return { ...projection, validate };
}

/** Checks a value's round trip through JSON: the projected form must be valid and must decode to an equal value. */
export function checkRoundTrip(
  { project, validate, foldBack }: ReturnType<typeof projectStrictly>,
  value: unknown,
): unknown {
  const sent = project(value);
  assert.ok(sent.ok, `has no projected form: ${JSON.stringify(value)}`);
  const projected: unknown = JSON.parse(JSON.stringify(sent.value));
  assert.ok(validate(projected), `${JSON.stringify(projected)}: ${JSON.stringify(validate.errors)}`);
  assert.deepEqual(foldBack(projected), { ok: true, value });
  return projected;
}
