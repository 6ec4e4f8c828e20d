import { isObject, kindOf } from "../json.ts";
import type { Schema, SchemaIndex } from "./schema-index.ts";

/** The types of JSON Schema. JSON itself has no separate type for integers. */
type SchemaKind = "object" | "array" | "string" | "number" | "integer" | "boolean" | "null";
export type Kinds = ReadonlySet<SchemaKind>;

export const ALL_KINDS: Kinds = new Set(["object", "array", "string", "number", "boolean", "null"]);
const KIND_NAMES = new Set<unknown>([...ALL_KINDS, "integer"]);

/** Returns the kinds that a `type` keyword allows. */
export function readType(type: unknown): Kinds {
  const kinds = new Set(
    (Array.isArray(type) ? type : [type]).filter((each): each is SchemaKind => KIND_NAMES.has(each)),
  );
  if (kinds.size === 0) return ALL_KINDS;
  if (kinds.has("number")) kinds.delete("integer");
  return kinds;
}

export function intersectKinds(one: Kinds, other: Kinds): Kinds {
  if (one === ALL_KINDS) return other;
  if (other === ALL_KINDS) return one;
  const both = new Set([...one].filter((kind) => other.has(kind)));
  const isWhole = (kinds: Kinds) => kinds.has("integer");
  if ((isWhole(one) && other.has("number")) || (isWhole(other) && one.has("number"))) both.add("integer");
  return both;
}

/** Whether a value is of one of the kinds. */
export function hasKind(value: unknown, kinds: Kinds): boolean {
  const kind = kindOf(value);
  if (kind !== "number") return kind !== undefined && kinds.has(kind);
  return kinds.has("number") || (kinds.has("integer") && Number.isInteger(value));
}

const LEVELS_MAX = 6;

/**
 * Returns the kinds that a schema may allow. The schema may in fact allow fewer, because only some keywords and a few
 * levels are read.
 */
export function kindsOf(index: SchemaIndex, schema: Schema, levels = LEVELS_MAX): Kinds {
  if (schema === true) return ALL_KINDS;
  if (schema === false) return new Set();
  if (levels === 0) return ALL_KINDS;
  let kinds = ALL_KINDS;
  const targets = typeof schema.$ref === "string" ? index.targetsOf(schema) : [];
  for (const target of targets)
    if (target !== undefined) kinds = intersectKinds(kinds, kindsOf(index, target, levels - 1));
  if (targets.length > 0 && index.dialect.ignoresRefSiblings) return kinds;
  kinds = intersectKinds(kinds, readType(schema.type));
  const values = Array.isArray(schema.enum)
    ? schema.enum
    : Object.hasOwn(schema, "const") && !index.dialect.ignoredKeywords.has("const")
      ? [schema.const]
      : undefined;
  if (values) kinds = intersectKinds(kinds, uniteKinds(values.map(kindsOfValue)));
  for (const keyword of ["anyOf", "oneOf"]) {
    const branches = schema[keyword];
    if (!Array.isArray(branches) || branches.length > 50) continue;
    kinds = intersectKinds(
      kinds,
      uniteKinds(branches.map((branch) => kindsOf(index, readSchema(branch), levels - 1))),
    );
  }
  return kinds;
}

const readSchema = (value: unknown): Schema => (typeof value === "boolean" || isObject(value) ? value : true);

function kindsOfValue(value: unknown): Kinds {
  const kind = kindOf(value);
  return kind === undefined ? new Set() : new Set<SchemaKind>([kind]);
}

export function uniteKinds(all: readonly Kinds[]): Kinds {
  const kinds = new Set(all.flatMap((each) => [...each]));
  if (kinds.has("number")) kinds.delete("integer");
  return kinds.size === ALL_KINDS.size ? ALL_KINDS : kinds;
}
