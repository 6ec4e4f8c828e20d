import { isObject } from "../json.ts";
import type { Expansion, Union } from "./expand-formula.ts";
import { isAnnotation } from "./formula.ts";
import { type Kinds, readType } from "./kinds.ts";
import type { Schema, SchemaIndex } from "./schema-index.ts";
import type { SchemaObject } from "./walk-schema.ts";

/**
 * Keywords that always determine the form of values. `type` is not in the list, because `determinesForm` checks which
 * types it excludes. All other keywords at most restrict which values are valid.
 */
const FORM_KEYWORDS = new Set(
  "$ref $dynamicRef $recursiveRef allOf anyOf oneOf enum const properties additionalProperties patternProperties unevaluatedProperties items prefixItems additionalItems if then else dependentSchemas dependencies".split(
    " ",
  ),
);

/**
 * Whether every branch of a union determines the form of the values that the branch accepts.
 * @param kinds the types that the schemas around the union allow.
 */
export function hasForms({ branches }: Union, kinds: Kinds): boolean {
  return branches.every((branch) => determinesForm(branch, kinds));
}

function determinesForm(branch: Schema, kinds: Kinds): boolean {
  if (!isObject(branch)) return false;
  for (const keyword in branch) if (FORM_KEYWORDS.has(keyword)) return true;
  return branch.type !== undefined && [...kinds].some((kind) => !readType(branch.type).has(kind));
}

/** Whether a schema limits unevaluated properties. If it does, the allowed names depend on all unions of the schema. */
export const limitsUnevaluated = ({ dialect }: SchemaIndex, schema: SchemaObject): boolean =>
  dialect.hasUnevaluated &&
  schema.unevaluatedProperties !== undefined &&
  schema.unevaluatedProperties !== true;

/**
 * Counts the properties of the schemas around a union. If the union's branches become separate forms, each form repeats
 * these properties.
 */
export function countCopies({ conjuncts }: Expansion): number {
  return conjuncts.reduce(
    (sum, { properties }) => sum + (isObject(properties) ? Object.keys(properties).length : 0),
    0,
  );
}

/**
 * Keywords that determine no form, but that properties of a union's branch may be needed for, or that test its parts.
 */
const TEST_KEYWORDS = new Set(
  "required not minProperties propertyNames dependentRequired contains uniqueItems unevaluatedItems".split(
    " ",
  ),
);

/** Whether the form of a value depends only on the union and on a type, not on other keywords around the union. */
export function isOnlyUnion({ conjuncts, unions, soft }: Expansion, union: Union): boolean {
  if (unions.length > 1 || soft.length > 0) return false;
  const own = new Set(["$ref", "allOf", "type"]);
  return conjuncts.every((schema) =>
    Object.keys(schema).every(
      (keyword) =>
        own.has(keyword) ||
        isAnnotation(keyword) ||
        (keyword === union.keyword && schema === union.owner) ||
        !(FORM_KEYWORDS.has(keyword) || TEST_KEYWORDS.has(keyword)),
    ),
  );
}
