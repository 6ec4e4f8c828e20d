import assert from "node:assert/strict";
import { compileSchema } from "../admission/compile-schema.ts";

export const text = { type: "string" };
export const number = { type: "number" };
export const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });
export const list = (items: unknown, more: object = {}) => ({ type: "array", items, ...more });
export const when = (condition: object, outcome: object, otherwise: object = {}) => ({
  if: condition,
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
  then: outcome,
  else: otherwise,
});

/** Compiles a schema that must be valid. @returns whether a value fits it. */
export function compile(schema: object): (value: unknown) => unknown {
  const compiled = compileSchema(structuredClone({ ...schema }));
  assert.ok(compiled.ok, JSON.stringify(compiled));
  return compiled.validate;
}
