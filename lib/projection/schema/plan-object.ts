import { isObject, ownValue } from "../json.ts";
import type { EvaluatedNames } from "./evaluated-names.ts";
import { conjoin, type Formula } from "./formula.ts";
import { isSchema, type Schema, type SchemaIndex } from "./schema-index.ts";
import type { SchemaObject } from "./walk-schema.ts";
import type { WorkBudget } from "./work-budget.ts";

/** `isDeclared`: whether a schema that always applies has the name in `properties`. */
type FieldPlan = {
  name: string;
  formula: Formula;
  isRequired: boolean;
  isDeclared: boolean;
  isSoft: boolean;
};
export type SectionPlan = { formula: Formula; patterns: readonly string[]; isRest: boolean };
/** `absent`: the names of properties that no object has. */
export type ObjectPlan = {
  fields: readonly FieldPlan[];
  absent: readonly string[];
  sections: readonly SectionPlan[];
};

/**
 * One schema's rules for properties: `declared` by name, `patterns` by pattern, and `rest` for all other properties
 * except those in `evaluatedNames`.
 */
type Claim = {
  declared: Record<string, unknown>;
  patterns: [string, Schema][];
  rest: Schema;
  evaluatedNames?: ReadonlySet<string>;
};

/**
 * Plans the properties of objects that satisfy all of `conjuncts` and possibly some of `soft`. Patterns are never run;
 * a property that may match a pattern counts as allowed.
 *
 * @returns undefined when no object satisfies all of `conjuncts`.
 * @throws WorkBudgetSpent
 */
export function planObject(
  index: SchemaIndex,
  { conjuncts, soft }: { conjuncts: readonly SchemaObject[]; soft: readonly SchemaObject[] },
  evaluated: EvaluatedNames,
  budget: WorkBudget,
): ObjectPlan | undefined {
  const claims = conjuncts.map((schema) => readClaim(index, schema, evaluated));
  const parts = new Map<string, Schema[]>();
  for (const { declared } of claims)
    for (const name of Object.keys(declared)) pushTo(parts, name, ownValue(declared, name));
  const required = new Set(conjuncts.flatMap(({ required }) => (Array.isArray(required) ? required : [])));
  const hardNames = new Set(parts.keys());
  for (const name of required) if (typeof name === "string" && !parts.has(name)) parts.set(name, []);
  const softParts = new Map<string, Schema[]>();
  for (const schema of soft) {
    const declared = readDeclared(schema);
    for (const name of Object.keys(declared))
      if (!hardNames.has(name)) pushTo(softParts, name, ownValue(declared, name));
  }
  for (const [name, schemas] of softParts)
    parts.set(name, [...(parts.get(name) ?? []), index.anyOf(schemas)]);
  budget.spend(parts.size);

  for (const claim of claims) {
    if (claim.patterns.length > 0 || claim.rest === true) continue;
    budget.spend(parts.size);
    for (const [name, schemas] of parts)
      if (!Object.hasOwn(claim.declared, name) && !claim.evaluatedNames?.has(name)) schemas.push(claim.rest);
  }
  const fields: FieldPlan[] = [];
  const absent: string[] = [];
  for (const [name, schemas] of parts) {
    const formula = conjoin(schemas);
    const isRequired = required.has(name);
    const isSoft = softParts.has(name) && !isRequired;
    if (formula) fields.push({ name, formula, isRequired, isDeclared: hardNames.has(name), isSoft });
    else if (isRequired) return undefined;
    else if (!isSoft) absent.push(name);
  }
  return { fields, absent, sections: planSections(index, claims) };
}

function readClaim(index: SchemaIndex, schema: SchemaObject, evaluated: EvaluatedNames): Claim {
  const declared = readDeclared(schema);
  const patternMap = isObject(schema.patternProperties) ? schema.patternProperties : {};
  const patterns = Object.entries(patternMap).filter((entry): entry is [string, Schema] =>
    isSchema(entry[1]),
  );
  if (isSchema(schema.additionalProperties)) return { declared, patterns, rest: schema.additionalProperties };
  const rest = index.dialect.hasUnevaluated ? schema.unevaluatedProperties : undefined;
  const evaluatedNames = isSchema(rest) && rest !== true ? evaluated.of(schema) : undefined;
  return evaluatedNames && isSchema(rest)
    ? { declared, patterns, rest, evaluatedNames }
    : { declared, patterns, rest: true };
}

/** Reads the named properties without `__proto__`, because the validator ignores a schema for that property. */
function readDeclared({ properties }: SchemaObject): Record<string, unknown> {
  if (!isObject(properties)) return {};
  if (!Object.hasOwn(properties, "__proto__")) return properties;
  const { ["__proto__"]: _, ...declared } = properties;
  return declared;
}

/**
 * Plans the lists for properties that no schema names. If exactly one schema limits these properties, there is a list
 * for those that match a pattern, and a list for all others. Otherwise one list contains all of these properties.
 */
function planSections(index: SchemaIndex, claims: readonly Claim[]): SectionPlan[] {
  const limiting = claims.filter(({ patterns, rest }) => patterns.length > 0 || rest !== true);
  const [first] = limiting;
  const section = (
    schemas: readonly Schema[],
    patterns: readonly string[],
    isRest: boolean,
  ): SectionPlan[] => {
    const formula = conjoin(schemas);
    return formula ? [{ formula, patterns, isRest }] : [];
  };
  if (first === undefined) return section([], [], true);
  if (limiting.length > 1) {
    const all = limiting.map(({ patterns, rest }) =>
      index.anyOf([...patterns.map(([, schema]) => schema), rest]),
    );
    return section(all, [], true);
  }
  const names = first.patterns.map(([pattern]) => pattern);
  const byPattern =
    first.patterns.length > 0 ? index.anyOf(first.patterns.map(([, schema]) => schema)) : false;
  if (byPattern === true && first.rest === true) return section([], [], true);
  return [...section([byPattern], names, false), ...section([first.rest], [], true)];
}

function pushTo(map: Map<string, Schema[]>, name: string, schema: unknown): void {
  const list = map.get(name);
  const part = isSchema(schema) ? schema : true;
  if (list) list.push(part);
  else map.set(name, [part]);
}
