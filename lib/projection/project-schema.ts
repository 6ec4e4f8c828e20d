import type { Node } from "./codec/codec.ts";
import { emitSchema } from "./codec/emit-schema.ts";
import { type Decoded, decodeValue, type Encoded, encodeValue, mapPath } from "./codec/run-codec.ts";
import { createWrapperCodec } from "./codec/wrapper-codec.ts";
import { buildGraph, type Graph, type GraphLimits, WHOLE } from "./graph/build-graph.ts";
import { createCommonNodes, createNode, type Folded } from "./graph/builder.ts";
import { hasValue } from "./graph/has-value.ts";
import { type DetailLimits, isWhole, planDetail } from "./graph/plan-detail.ts";
import type { JsonSchema } from "./json.ts";
import { checkProfile } from "./profile/check-profile.ts";
import { limitChoices } from "./profile/limit-choices.ts";
import type { Profile, ProfileRules, SchemaForm } from "./profile/profile.ts";
import { writeStyle } from "./profile/write-style.ts";
import { findDialect } from "./schema/dialect.ts";
import type { BoundRules } from "./schema/read-bounds.ts";
import { createSchemaIndex } from "./schema/schema-index.ts";
import type { SchemaObject } from "./schema/walk-schema.ts";

export type { Decoded, Encoded } from "./codec/run-codec.ts";
export type { Folded } from "./graph/builder.ts";

/** A caller's schema in the form that a provider accepts, and functions to convert values in both directions. */
export type Projection = {
  /** The schema for the provider. */
  schema: JsonSchema;
  /** The constraints that became sentences in descriptions. */
  folded: readonly Folded[];
  /** False if it is certain that no finite value is valid against the caller's schema; true in all other cases. */
  hasValue: boolean;
  /**
   * Converts a value of the projected schema into the caller's shape. The `path` of a failure points into `projected`.
   */
  foldBack: (projected: unknown) => Decoded;
  /**
   * Converts a value of the caller's schema into its projected form. Every valid value has a projected form, unless it is
   * nested too deeply, or has properties that the projected form has no place for (decision 111).
   */
  project: (value: unknown) => Encoded;
  /**
   * Takes a JSON pointer into the caller's value. Returns the pointer to the part of `projected`, the model's JSON,
   * that represents the same part of the value. If no part of `projected` represents it, returns the pointer to the
   * nearest enclosing part.
   */
  toProjectedPath: (pointer: string, projected: unknown) => string;
};

/**
 * The size limits of each attempt to project a schema, in decreasing order. The first projection that follows the
 * provider's rules is used, or the last projection if none follows them.
 */
const ATTEMPTS: readonly GraphLimits[] = [
  { fieldsMax: 6_000, copiesMax: 1_000 },
  { fieldsMax: 6_000, copiesMax: 0 },
  { fieldsMax: 2_500, copiesMax: 0 },
  { fieldsMax: 500, copiesMax: 0 },
];

/**
 * Projects an admitted schema onto the subset of JSON Schema that a provider's strict mode accepts. Constraints that
 * the subset cannot express become sentences in descriptions. Every value that is valid under the caller's schema, is
 * not nested too deeply and has no undeclared properties survives `project` and `foldBack` unchanged (decision 111). The
 * work is linear in the size of the schema: no pattern is run, and parts that exceed the budget become JSON text.
 * Source: specification, Structured sessions, Schema rules, rule 4.
 *
 * @param form how plain the projected schema is. A plainer form follows one that the provider has refused.
 */
export function projectSchema(
  schema: SchemaObject,
  profile: Profile,
  form: SchemaForm = "bounds",
): Projection {
  const { rules } = profile;
  if (rules === undefined) return leaveUnchanged(schema);
  const limits: DetailLimits =
    form === "compact" ? { ...compactLimits, unionsMax: Math.min(rules.unionsMax, 16) } : limitsOf(rules);
  const bounds = form === "bounds" ? rules.bounds : undefined;
  let projection: Projection | undefined;
  for (const sizes of ATTEMPTS) {
    projection = create(buildSafely(schema, sizes, { limits, bounds }), schema, rules);
    if (checkProfile(projection.schema, profile) === undefined) return projection;
  }
  projection = create(untypedGraph(), schema, rules);
  return projection;
}

const limitsOf = (rules: ProfileRules): DetailLimits => ({
  allowsRecursion: rules.allowsRecursion,
  unionsMax: rules.unionsMax,
  optionalsMax: rules.requiresAll ? 0 : rules.optionalsMax,
  propertiesMax: Number.POSITIVE_INFINITY,
  levelsMax: Number.POSITIVE_INFINITY,
});

/** The limits of the compact form, which are below all limits on complexity that providers are known to have. */
const compactLimits: DetailLimits = {
  allowsRecursion: false,
  unionsMax: 16,
  optionalsMax: 0,
  propertiesMax: 40,
  levelsMax: 2,
};

function leaveUnchanged(schema: SchemaObject): Projection {
  return {
    schema,
    folded: [],
    hasValue: true,
    foldBack: (value) => ({ ok: true, value }),
    project: (value) => ({ ok: true, value }),
    toProjectedPath: (pointer) => pointer,
  };
}

type BuildRules = { limits: DetailLimits; bounds: BoundRules | undefined };

/** Builds the graph of a schema within the provider's limits. A schema that is nested too deeply becomes JSON text. */
function buildSafely(schema: SchemaObject, sizes: GraphLimits, { limits, bounds }: BuildRules): Graph {
  try {
    const index = createSchemaIndex(schema, findDialect(schema.$schema));
    const isTight = limits.unionsMax < Number.POSITIVE_INFINITY;
    const graph = buildGraph(index, schema, sizes, { isTight, bounds, detail: WHOLE });
    const detail = planDetail(graph, limits);
    return isWhole(detail) ? graph : buildGraph(index, schema, sizes, { isTight, bounds, detail });
  } catch (error) {
    if (error instanceof RangeError) return untypedGraph();
    throw error;
  }
}

const untypedGraph = (): Graph => ({
  root: createNode(createCommonNodes(false).anyObject, "root"),
  folded: [],
  keys: new Map(),
});

function create({ root, folded }: Graph, schema: SchemaObject, rules: ProfileRules): Projection {
  limitChoices(root, rules);
  const { kinds } = root.codec.outputs();
  const isPlainObject = kinds.size === 1 && kinds.has("object") && root.codec.enter === undefined;
  const top = isPlainObject ? root : wrapRoot(root);
  return {
    schema: nameRoot(writeStyle(emitSchema(top), rules), schema),
    folded,
    hasValue: hasValue(top),
    foldBack: (projected) => decodeValue(top, projected),
    project: (value) => encodeValue(top, value),
    toProjectedPath: (pointer, projected) => mapPath(top, pointer, projected),
  };
}

/** Wraps the root in an object, and moves the root's description to the wrapper, so that it is not sent twice. */
function wrapRoot(root: Node): Node {
  const top = createNode(createWrapperCodec("result", root), "result", root.description);
  root.description = "";
  return top;
}

/**
 * Puts the caller's title at the root of the projected schema, and the caller's description if the root has none yet.
 * Source: `wire.md`, Structured output.
 */
function nameRoot(projected: JsonSchema, { title, description }: SchemaObject): JsonSchema {
  const isUndescribed = projected.description === undefined && typeof description === "string";
  return {
    ...(typeof title === "string" && { title }),
    ...projected,
    ...(isUndescribed && { description }),
  };
}
