import { beginningOf } from "#lib/text/whole-characters.ts";
import { isNever } from "./codec/codec.ts";
import { emitSchema } from "./codec/emit-schema.ts";
import { buildGraph, type GraphLimits } from "./graph/build-graph.ts";
import { isObject, type JsonSchema, setOwn } from "./json.ts";
import { findDialect } from "./schema/dialect.ts";
import { createSchemaIndex } from "./schema/schema-index.ts";

/** Smaller than for callers' schemas, because the schemas of many tools are read on the main thread. */
const LIMITS: GraphLimits = { fieldsMax: 1_000, copiesMax: 200, stepsMax: 5_000 };
const TEXT_MAX = 1_000;
const DEPTH_MAX = 64;

/**
 * Projects the schema of a tool's input onto the subset of JSON Schema that every provider accepts for tools. It is the
 * projection of callers' schemas (`project-schema.ts`) up to its last step: tools are not called in strict mode, so the
 * schema describes the input as the tool expects it, and no value has to be converted. References are resolved. The root
 * is one object, into which the alternatives of the root are merged. Constraints that the subset cannot express, such as
 * patterns and conditions, become sentences in descriptions. A property that only an alternative of the root or a
 * condition names has the schema that it has there. The schema is never compiled.
 *
 * @returns undefined if the schema does not describe an object.
 */
export function describeInput(schema: unknown): JsonSchema | undefined {
  if (!isObject(schema)) return undefined;
  const copy = copySchema(schema, 0);
  if (!isObject(copy)) return undefined;
  const { root } = buildGraph(
    createSchemaIndex(copy, findDialect(copy.$schema)),
    copy,
    LIMITS,
    undefined,
    true,
  );
  if (isNever(root)) return undefined;
  const { type, properties = {}, description, ...rest } = emitSchema(root, "own");
  // A list of whole objects, or a schema that exceeds the limits, leaves nothing that can be written at the root.
  if (type !== "object")
    return { type: "object", properties: {}, ...(description !== undefined && { description }) };
  return { type, properties, ...(description !== undefined && { description }), ...rest };
}

/** Copies a schema with shortened texts, and without the parts that are nested too deeply. */
function copySchema(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth > DEPTH_MAX) return true;
  if (Array.isArray(value)) return value.map((each) => copySchema(each, depth + 1));
  const copy: Record<string, unknown> = {};
  for (const [name, each] of Object.entries(value)) {
    const isText = typeof each === "string" && (name === "description" || name === "title");
    setOwn(copy, name, isText ? beginningOf(each, TEXT_MAX).toWellFormed() : copySchema(each, depth + 1));
  }
  return copy;
}
