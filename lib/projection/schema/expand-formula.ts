import { isObject, stableText } from "../json.ts";
import { type Formula, isAnnotation, unionKey } from "./formula.ts";
import { ALL_KINDS, hasKind, intersectKinds, type Kinds, readType } from "./kinds.ts";
import { isSchema, type Schema, type SchemaIndex } from "./schema-index.ts";
import type { SchemaObject } from "./walk-schema.ts";
import type { WorkBudget } from "./work-budget.ts";

/**
 * An `anyOf` or `oneOf`: a choice between several schemas for the same value. `owner` is the schema that contains it.
 */
export type Union = {
  owner: SchemaObject;
  keyword: "anyOf" | "oneOf";
  key: string;
  branches: readonly Schema[];
};

/** All requirements of a formula for one value, collected through references and `allOf`. */
export type Expansion = {
  /** Each schema whose own keywords apply to the value. */
  conjuncts: readonly SchemaObject[];
  /**
   * The conjuncts that come from `formula.described` and not already from `formula.base`. The description of the value
   * must state their requirements.
   */
  described: readonly SchemaObject[];
  kinds: Kinds;
  /** The allowed values, if `enum` or `const` lists them. */
  values: readonly unknown[] | undefined;
  unions: readonly Union[];
  /**
   * Schemas that apply to some values only: conditions, their `then` and `else`, dependent schemas, and branches of
   * merged unions.
   */
  soft: readonly Schema[];
};

/**
 * Collects the requirements of a formula. @throws WorkBudgetSpent
 *
 * @returns undefined if a `false` schema, the types or the listed values already show that no value satisfies the
 * formula. Other contradictions are not detected.
 */
export function expandFormula(
  index: SchemaIndex,
  formula: Formula,
  budget: WorkBudget,
): Expansion | undefined {
  const conjuncts = new Set<SchemaObject>();
  const described: SchemaObject[] = [];
  const unions: Union[] = [];
  const soft: Schema[] = [];
  let kinds = ALL_KINDS;
  let values: readonly unknown[] | undefined;
  const open: Schema[] = [];
  const pushAll = (schemas: readonly Schema[]) => {
    for (const schema of schemas.toReversed()) open.push(schema);
  };

  const limitValues = (allowed: readonly unknown[]) => {
    budget.spend(allowed.length);
    const texts = values && new Set(values.map(stableText));
    values = texts ? allowed.filter((value) => texts.has(stableText(value))) : allowed;
  };

  const read = (schema: SchemaObject) => {
    const { dialect } = index;
    if (typeof schema.$ref === "string" && dialect.ignoresRefSiblings) {
      pushAll(index.targetsOf(schema).map((target) => target ?? true));
      return;
    }
    kinds = intersectKinds(kinds, readType(schema.type));
    if (Array.isArray(schema.enum)) limitValues(schema.enum);
    if (Object.hasOwn(schema, "const") && !dialect.ignoredKeywords.has("const")) limitValues([schema.const]);
    pushAll([
      !acceptsEverything(schema.not),
      ...index.targetsOf(schema).map((target) => target ?? true),
      ...listOf(schema.allOf),
      ...readUnions(index, schema, formula, unions),
    ]);
    soft.push(...conditionalsOf(index, schema), ...joinedBranches(index, schema, formula));
  };

  const readAll = (roots: readonly SchemaObject[], isDescribed: boolean): boolean => {
    pushAll(roots);
    for (let schema = open.pop(); schema !== undefined; schema = open.pop()) {
      budget.spend(1);
      if (schema === false) return false;
      if (schema === true || conjuncts.has(schema)) continue;
      conjuncts.add(schema);
      if (isDescribed) described.push(schema);
      read(schema);
    }
    return true;
  };

  if (!readAll(formula.base, false) || !readAll(formula.described, true)) return undefined;
  if (values) values = distinct(values.filter((value) => hasKind(value, kinds)));
  if (kinds.size === 0 || values?.length === 0) return undefined;
  // Keywords next to a `$ref` that are ignored must not become requirements.
  const isAlias = ({ $ref }: SchemaObject) => typeof $ref === "string" && index.dialect.ignoresRefSiblings;
  const effective = [...conjuncts].filter((schema) => !isAlias(schema));
  return { conjuncts: effective, described, kinds, values, unions, soft };
}

/**
 * Adds the schema's unions to `unions`, except those whose keys are in the formula's `settled` or `joined`. Branches
 * that accept nothing do not count.
 * @returns the branch of each union that has only one branch, and false for each union that has none. These unions are
 * not added.
 */
function readUnions(index: SchemaIndex, schema: SchemaObject, formula: Formula, unions: Union[]): Schema[] {
  const certain: Schema[] = [];
  for (const keyword of ["anyOf", "oneOf"] as const) {
    const key = unionKey(index, schema, keyword);
    if (!Array.isArray(schema[keyword]) || formula.settled.has(key) || formula.joined.has(key)) continue;
    const branches = listOf(schema[keyword]).filter((branch) => !acceptsNothing(branch));
    const [only] = branches;
    if (only === undefined) certain.push(false);
    else if (branches.length === 1) certain.push(only);
    else unions.push({ owner: schema, keyword, key, branches });
  }
  return certain;
}

function joinedBranches(index: SchemaIndex, schema: SchemaObject, { joined }: Formula): Schema[] {
  if (joined.size === 0) return [];
  const keywords = ["anyOf", "oneOf"].filter((keyword) => joined.has(unionKey(index, schema, keyword)));
  return keywords.flatMap((keyword) => listOf(schema[keyword]));
}

/** Whether a schema is certain to accept every value, because it is `true` or contains only annotations. */
export const acceptsEverything = (schema: unknown): boolean =>
  schema === true || (isObject(schema) && Object.keys(schema).every(isAnnotation));

const acceptsNothing = (schema: Schema): boolean =>
  schema === false || (schema !== true && typeof schema.$ref !== "string" && acceptsEverything(schema.not));

/** Lists the subschemas that a schema applies to the same value under a condition, and the conditions themselves. */
export function conditionalsOf({ dialect }: SchemaIndex, schema: SchemaObject): Schema[] {
  const found = dialect.ignoredKeywords.has("if") ? [] : [schema.if, schema.then, schema.else];
  for (const keyword of ["dependentSchemas", "dependencies"]) {
    const map = schema[keyword];
    if (isObject(map)) found.push(...Object.values(map));
  }
  return found.filter(isSchema);
}

export const listOf = (value: unknown): Schema[] => (Array.isArray(value) ? value.filter(isSchema) : []);

function distinct(values: readonly unknown[]): unknown[] {
  return [...new Map(values.map((value) => [stableText(value), value])).values()];
}
