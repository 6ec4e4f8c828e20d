import { isObject, stableText } from "../json.ts";
import { type Expansion, listOf, type Union } from "./expand-formula.ts";
import { followAliases } from "./formula.ts";
import { intersectKinds, type Kinds, kindsOf } from "./kinds.ts";
import { hasKeyword, type NameReading } from "./reads-names.ts";
import { isSchema, type Schema, type SchemaIndex } from "./schema-index.ts";
import { namesIn } from "./silent-object.ts";
import type { SchemaObject } from "./walk-schema.ts";
import { isOnlyUnion } from "./weigh-union.ts";
import { createWorkBudget } from "./work-budget.ts";

/**
 * Returns the branches of a union whose objects must keep their further properties because of the other branches:
 *
 * - `oneOf`: without its further properties, an object of the branch might also be valid for another branch.
 * - `anyOf`: an object may combine properties of the branch with those of another branch. A branch that is a whole type
 *   of its own is not combined with others.
 */
export type FindEntangled = (expansion: Expansion, union: Union) => ReadonlySet<Schema>;

/** Limit on the steps of all comparisons in one document. Beyond it, every branch counts as entangled. */
const STEPS_MAX = 50_000;
const SCHEMAS_MAX = 50;

/** What is certain about the values of a branch, together with the schemas around the union. */
type Facts = {
  schema: Schema;
  /** Whether the branch states the type of its values, as generators do for the types of a programming language. */
  isTyped: boolean;
  kinds: Kinds;
  properties: ReadonlyMap<string, readonly Schema[]>;
  required: ReadonlySet<unknown>;
  hasItems: boolean;
  /** All property names that the branch mentions. Undefined if not only these names decide what is valid. */
  names: ReadonlySet<unknown> | undefined;
};

export function createFindEntangled(index: SchemaIndex, reading: NameReading): FindEntangled {
  const budget = createWorkBudget(STEPS_MAX);

  const isFree = (one: Facts, other: Facts, keyword: Union["keyword"], isOnly: boolean): boolean => {
    if (!reading.inValue(other.schema) || areApart(index, one, other)) return true;
    const { names } = one;
    if (keyword === "oneOf")
      return names !== undefined && [...other.required].some((name) => !names.has(name));
    return (isOnly && one.isTyped) || (names !== undefined && declaresNoMore(other, one, reading));
  };

  return (expansion, union) => {
    const { branches, keyword } = union;
    const cost = branches.length * (branches.length + expansion.conjuncts.length);
    if (!budget.covers(cost)) return new Set(branches);
    budget.spend(cost);
    const facts = branches.map((branch) => readFacts(index, expansion, branch));
    const isOnly = isOnlyUnion(expansion, union);
    const entangled = facts.filter(
      (one) =>
        reading.inValue(one.schema) &&
        facts.some((other) => other !== one && !isFree(one, other, keyword, isOnly)),
    );
    return new Set(entangled.map(({ schema }) => schema));
  };
}

/** Whether one branch declares only properties that the other declares, too, and says nothing else about objects in them. */
function declaresNoMore({ names, properties }: Facts, other: Facts, { inValue }: NameReading): boolean {
  if (names === undefined || ![...names].every((name) => other.names?.has(name))) return false;
  return [...properties].every(([name, schemas]) =>
    schemas.every((schema) => !inValue(schema) || other.properties.get(name)?.includes(schema)),
  );
}

/** Keywords because of which more than the names in `properties` and `required` decides which objects are valid. */
const COMPLEX_KEYWORDS =
  "not if then else dependentSchemas dependentRequired dependencies patternProperties propertyNames unevaluatedProperties minProperties $dynamicRef $recursiveRef".split(
    " ",
  );

function readFacts(index: SchemaIndex, { conjuncts, unions, soft, kinds }: Expansion, branch: Schema): Facts {
  const own = listApplied(index, branch);
  const isPlain = (schema: SchemaObject) =>
    !COMPLEX_KEYWORDS.some((keyword) => hasKeyword(index, schema, keyword)) &&
    (schema.additionalProperties ?? false) === false;
  const isSimple =
    own?.every((schema) => isPlain(schema) && schema.anyOf === undefined && schema.oneOf === undefined) &&
    conjuncts.every(isPlain) &&
    unions.length === 1 &&
    soft.length === 0;
  const applied = [...conjuncts, ...(own ?? [])];
  const properties = new Map<string, Schema[]>();
  for (const schema of applied)
    for (const [name, part] of Object.entries(isObject(schema.properties) ? schema.properties : {}))
      if (isSchema(part)) properties.set(name, [...(properties.get(name) ?? []), part]);
  return {
    schema: branch,
    isTyped: own?.some(({ type }) => type !== undefined) === true,
    kinds: intersectKinds(kinds, kindsOf(index, branch)),
    properties,
    required: new Set(applied.flatMap(({ required }) => (Array.isArray(required) ? required : []))),
    hasItems: applied.some(({ items, prefixItems }) => items !== undefined || prefixItems !== undefined),
    names: isSimple && properties.size > 0 ? new Set(applied.flatMap(namesIn)) : undefined,
  };
}

/** Lists the schemas that a schema always applies to a value; undefined if there are too many. */
function listApplied(index: SchemaIndex, branch: Schema): SchemaObject[] | undefined {
  const found = new Set<Schema>([branch]);
  const applied: SchemaObject[] = [];
  for (const schema of found) {
    if (!isObject(schema)) continue;
    if (applied.length === SCHEMAS_MAX) return undefined;
    for (const target of index.targetsOf(schema)) if (target !== undefined) found.add(target);
    if (typeof schema.$ref === "string" && index.dialect.ignoresRefSiblings) continue;
    applied.push(schema);
    for (const each of listOf(schema.allOf)) found.add(each);
  }
  return applied;
}

/**
 * Whether no list or object of one branch is valid for the other, even without further properties: their types differ,
 * or a property that one of them requires has no value that both allow.
 */
function areApart(index: SchemaIndex, one: Facts, other: Facts): boolean {
  const common = intersectKinds(one.kinds, other.kinds);
  if (common.has("array") && one.hasItems) return false;
  if (!common.has("object")) return true;
  for (const [name, schemas] of one.properties) {
    const others = other.properties.get(name);
    if (others === undefined || !(one.required.has(name) || other.required.has(name))) continue;
    if (schemas.some((schema) => others.some((each) => areDisjoint(index, schema, each)))) return true;
  }
  return false;
}

function areDisjoint(index: SchemaIndex, one: Schema, other: Schema): boolean {
  if (intersectKinds(kindsOf(index, one), kindsOf(index, other)).size === 0) return true;
  const values = listValues(index, one);
  const others = values && listValues(index, other);
  if (values === undefined || others === undefined) return false;
  const texts = new Set(values.map(stableText));
  return !others.some((value) => texts.has(stableText(value)));
}

/** Lists the values of an `enum` or a `const`; undefined if the schema has neither or lists very many. */
function listValues(index: SchemaIndex, part: Schema): readonly unknown[] | undefined {
  const { schema } = isObject(part) ? followAliases(index, part) : { schema: part };
  if (!isObject(schema)) return undefined;
  if (hasKeyword(index, schema, "const")) return [schema.const];
  return Array.isArray(schema.enum) && schema.enum.length <= SCHEMAS_MAX ? schema.enum : undefined;
}
