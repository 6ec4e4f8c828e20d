import { addDescribedLimits } from "./add-described-limits.ts";
import { buildBoolean, buildEnum } from "./build-choice.ts";
import { buildNumber } from "./build-number.ts";
import { buildString } from "./build-string.ts";
import { buildScope, findFact, findList, type Scope } from "./match-fact.ts";
import type { PageFacts } from "./page-facts.ts";
import { isSchemaObject, mergeSchemas, resolveSchema, type SchemaObject } from "./resolve-schema.ts";
import { samplePattern } from "./sample-pattern.ts";

type Builder = { root: SchemaObject; nodesLeft: number };
type Place = { name: string; scope: Scope; depth: number; position?: number };

const NODES_MAX = 5_000;
const DEPTH_MAX = 14;
const ITEMS_MAX = 40;

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const limit = (value: unknown, fallback: number) => (typeof value === "number" ? value : fallback);

/**
 * Builds a value for the schema. A property whose name matches a fact of the page gets this fact, and every other
 * required property a placeholder. The usual keywords are supported; if keywords contradict each other, the value may
 * be invalid. The number and depth of nodes are limited, and a regular expression from the caller is run only if it is
 * short and simple. Never throws.
 */
export function buildValue(schema: unknown, facts: PageFacts): unknown {
  const builder: Builder = { root: isSchemaObject(schema) ? schema : {}, nodesLeft: NODES_MAX };
  return build(builder, schema, { name: "", scope: buildScope(facts), depth: 0 });
}

function build(builder: Builder, unresolved: unknown, place: Place): unknown {
  builder.nodesLeft -= 1;
  // Stops here, because a schema that requires itself has no finite value.
  if (place.depth > 4 * DEPTH_MAX || builder.nodesLeft < -NODES_MAX) return null;
  const schema = choose(builder, addDescribedLimits(resolveSchema(builder.root, unresolved)), place);
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) {
    const choices = schema.enum.filter((each) => each !== null);
    const isLeftOut = choices.length < schema.enum.length && !hasFact(schema, place);
    return isLeftOut || choices.length === 0 ? null : buildEnum(choices, place);
  }
  switch (readType(schema, place)) {
    case "object":
      return buildObject(builder, schema, place);
    case "array":
      return buildArray(builder, schema, place);
    case "string":
      return buildString(schema, place);
    case "integer":
      return buildNumber(schema, place, true);
    case "number":
      return buildNumber(schema, place, false);
    case "boolean":
      return buildBoolean(place);
    default:
      return null;
  }
}

/**
 * Whether the page has a fact for a value. An object with `properties` always counts as having one. A nullable value
 * without a fact becomes null.
 */
function hasFact(schema: SchemaObject, { scope, name }: Place): boolean {
  if (findFact(scope, name) !== undefined) return true;
  return findList(scope, name, schema.description).length > 0 || isSchemaObject(schema.properties);
}

function allowsNull(schema: SchemaObject): boolean {
  return schema.type === "null" || list(schema.type).includes("null") || schema.const === null;
}

/**
 * Merges one branch of `anyOf` or `oneOf` into the schema. It chooses the null branch if the page has no fact for the
 * value, or if the depth limit is near.
 */
function choose(builder: Builder, schema: SchemaObject, place: Place, hops = 0): SchemaObject {
  const { anyOf, oneOf, ...rest } = schema;
  const branches = [...list(anyOf), ...(Array.isArray(anyOf) ? [] : list(oneOf))];
  if (branches.length === 0 || hops > 10) return rest;
  builder.nodesLeft -= branches.length;
  const resolved = branches.slice(0, 100).map((branch) => resolveSchema(builder.root, branch));
  const nullBranch = resolved.find(allowsNull);
  const others = resolved.filter((branch) => branch !== nullBranch);
  const isDeep = place.depth > DEPTH_MAX / 2 || builder.nodesLeft <= 0;
  const simple = others.find(
    (branch) => !["object", "array"].includes(String(branch.type)) && !branch.properties && !branch.anyOf,
  );
  const preferred = (isDeep ? simple : undefined) ?? others[0];
  const usesNull =
    nullBranch !== undefined &&
    (isDeep || preferred === undefined || !hasFact({ ...preferred, ...rest }, place));
  const branch = usesNull ? nullBranch : (preferred ?? {});
  const left = Array.isArray(anyOf) && oneOf !== undefined ? { oneOf } : {};
  return choose(builder, addDescribedLimits(mergeSchemas({ ...rest, ...left }, branch)), place, hops + 1);
}

function readType(schema: SchemaObject, place: Place): string {
  const types = (Array.isArray(schema.type) ? schema.type : [schema.type]).filter(
    (type) => typeof type === "string",
  );
  if (types.includes("null")) {
    const other = types.find((type) => type !== "null");
    return other !== undefined && place.depth <= DEPTH_MAX / 2 && hasFact(schema, place) ? other : "null";
  }
  if (types[0] !== undefined) return types[0];
  const has = (...keys: string[]) => keys.some((key) => schema[key] !== undefined);
  if (has("properties", "required", "minProperties", "additionalProperties", "patternProperties"))
    return "object";
  if (has("items", "prefixItems", "minItems", "contains")) return "array";
  if (has("minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum")) return "number";
  return "string";
}

function buildObject(builder: Builder, schema: SchemaObject, place: Place): Record<string, unknown> {
  const properties = isSchemaObject(schema.properties) ? schema.properties : {};
  const required = new Set(list(schema.required).filter((name) => typeof name === "string"));
  const value: Record<string, unknown> = {};
  const add = (name: string, inner: unknown) => {
    if (Object.hasOwn(value, name)) return;
    const built = build(builder, inner, { name, scope: place.scope, depth: place.depth + 1 });
    // Does not use an assignment, because an assignment to `__proto__` changes the prototype.
    Object.defineProperty(value, name, {
      value: built,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  };
  const isRoomy = place.depth < DEPTH_MAX && builder.nodesLeft > 0;
  for (const [name, inner] of Object.entries(properties)) {
    const isWanted = isRoomy && inner !== false && hasOwnFact(builder, inner, place, name);
    if (required.has(name) || isWanted) add(name, inner);
  }
  for (const name of required) add(name, findOther(schema, name));
  const dependent = { ...asObject(schema.dependentRequired), ...asObject(schema.dependencies) };
  for (const [name, names] of Object.entries(dependent)) {
    if (!Object.hasOwn(value, name)) continue;
    for (const other of list(names)) if (typeof other === "string") add(other, properties[other] ?? {});
  }
  for (const [name, inner] of Object.entries(asObject(schema.dependentSchemas))) {
    if (!Object.hasOwn(value, name) || !isSchemaObject(inner)) continue;
    for (const other of list(inner.required)) {
      if (typeof other === "string") add(other, asObject(inner.properties)[other] ?? properties[other] ?? {});
    }
  }
  addUpToMinimum(schema, value, properties, add);
  return value;
}

const asObject = (value: unknown): SchemaObject => (isSchemaObject(value) ? value : {});

/**
 * Whether an optional property is included. An object with `properties` is included if it is not nested deeply. Any
 * other property is included if the page has a fact of a suitable type for it.
 */
function hasOwnFact(builder: Builder, inner: unknown, place: Place, name: string): boolean {
  const schema = resolveSchema(builder.root, inner);
  if (isSchemaObject(schema.properties)) return place.depth < 3;
  const fact = findFact(place.scope, name);
  const isKnown = fact !== undefined || findList(place.scope, name, schema.description).length > 0;
  return isKnown && fits(schema, fact);
}

/** Whether a fact has a type that the property can use. */
function fits(schema: SchemaObject, fact: unknown): boolean {
  if (schema.type === "boolean") return typeof fact === "boolean";
  if (schema.type === "array") return true;
  return fact !== undefined;
}

/** Finds the schema of a property that `properties` does not contain. */
function findOther(schema: SchemaObject, name: string): unknown {
  for (const [pattern, inner] of Object.entries(asObject(schema.patternProperties))) {
    const literal = pattern.replace(/^\^|\$$/g, "");
    if (literal !== "" && name.startsWith(literal)) return inner;
  }
  return schema.additionalProperties ?? schema.unevaluatedProperties ?? {};
}

/** Adds properties until the object has at least `minProperties` of them. */
function addUpToMinimum(
  schema: SchemaObject,
  value: Record<string, unknown>,
  properties: SchemaObject,
  add: (name: string, inner: unknown) => void,
) {
  const least = Math.min(limit(schema.minProperties, 0), 100);
  for (const [name, inner] of Object.entries(properties)) {
    if (Object.keys(value).length >= least) return;
    if (inner !== false) add(name, inner);
  }
  const [pattern, patterned] = Object.entries(asObject(schema.patternProperties))[0] ?? [];
  for (let number = 1; Object.keys(value).length < least && number <= 100; number += 1) {
    const names = asObject(schema.propertyNames);
    const suffix = "x".repeat(number - 1);
    if (pattern !== undefined) add(`${samplePattern(pattern) ?? pattern}${suffix}`, patterned);
    else if (typeof names.pattern === "string")
      add(`${samplePattern(names.pattern, number) ?? "key"}`, schema.additionalProperties);
    else if (Array.isArray(names.enum)) add(String(names.enum[number - 1]), schema.additionalProperties);
    else add(`key${number}`, schema.additionalProperties ?? {});
  }
}

function buildArray(builder: Builder, schema: SchemaObject, place: Place): unknown[] {
  const tuple = Array.isArray(schema.prefixItems) ? schema.prefixItems : list(schema.items);
  const items = Array.isArray(schema.items) ? schema.additionalItems : schema.items;
  const isDeep = place.depth >= DEPTH_MAX || builder.nodesLeft <= 0;
  const contained = schema.contains === undefined ? 0 : limit(schema.minContains, 1);
  const least = Math.min(Math.max(limit(schema.minItems, 0), contained), 1_000);
  const most = Math.max(least, Math.min(limit(schema.maxItems, ITEMS_MAX), Math.max(ITEMS_MAX, least)));
  const found = isDeep || items === false ? [] : findList(place.scope, place.name, schema.description);
  const length = Math.max(
    least,
    tuple.length > 0 ? Math.min(tuple.length, most) : 0,
    Math.min(found.length, most),
  );
  const values: unknown[] = [];
  const seen = new Set<string>();
  for (let position = 0; values.length < length && position < length + 50; position += 1) {
    const scope = found[position] ?? { values: {}, lists: {}, words: place.scope.words };
    const inner =
      position < contained && found[position] === undefined
        ? schema.contains
        : (tuple[position] ?? items ?? {});
    const name = tuple[position] === undefined && found[position] !== undefined ? "name" : "";
    const value = build(builder, inner, { name, scope, depth: place.depth + 1, position });
    const key = JSON.stringify(value);
    if (schema.uniqueItems === true && seen.has(key)) continue;
    seen.add(key);
    values.push(value);
  }
  return values;
}
