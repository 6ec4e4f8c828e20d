import assert from "node:assert/strict";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { isObject, setOwn } from "../json.ts";
import { checkProfile } from "../profile/check-profile.ts";
import { type Profile, profiles, type SchemaForm } from "../profile/profile.ts";
import { type Projection, projectSchema } from "../project-schema.ts";

// All tests share one instance, because compiling the meta-schema takes longer than compiling the tested schemas.
const ajv = addFormats(new Ajv2020({ strict: true, allowUnionTypes: true, ownProperties: true }));

/** Projects a schema for a provider. The projected schema must follow the provider's rules and compile. */
export function projectStrictly(
  schema: Record<string, unknown>,
  { profile = profiles.openai, form }: { profile?: Profile; form?: SchemaForm } = {},
): Projection & { validate: ValidateFunction } {
  const projection = projectSchema(schema, profile, form);
  assert.equal(checkProfile(projection.schema, profile), undefined);
  const validate = ajv.compile(projection.schema);
  ajv.removeSchema(projection.schema);
  return { ...projection, validate };
}

/**
 * Checks the round trip of a valid value without the properties that the projection has no place for. What is left must
 * be valid, too, so that a schema whose values need such properties does not lose its values.
 * @returns the names of these properties, sorted.
 */
export function checkDeclared(
  projection: ReturnType<typeof projectStrictly>,
  value: unknown,
  isValid: (value: unknown) => unknown,
): string[] {
  let left: unknown = JSON.parse(JSON.stringify(value));
  const names: string[] = [];
  for (let sent = projection.project(left); !sent.ok; sent = projection.project(left)) {
    const smaller = sent.undeclared.map((each) => ({ names: each.names, value: leaveOut(left, each) }));
    const valid = smaller.find((each) => isValid(each.value));
    assert.ok(valid, `has no projected form: ${JSON.stringify(left)}`);
    names.push(...valid.names);
    left = valid.value;
  }
  checkRoundTrip(projection, left);
  return names.toSorted();
}

/** Copies a value without some properties of one of the objects in it. */
function leaveOut(value: unknown, from: { object: object; names: readonly string[] }): unknown {
  if (Array.isArray(value)) return value.map((each) => leaveOut(each, from));
  if (!isObject(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const [name, each] of Object.entries(value))
    if (value !== from.object || !from.names.includes(name)) setOwn(copy, name, leaveOut(each, from));
  return copy;
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
