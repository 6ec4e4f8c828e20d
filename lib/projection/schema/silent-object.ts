import { isObject } from "../json.ts";
import { collectSoft, type SoftSchemas } from "./evaluated-names.ts";
import type { ObjectPlan } from "./plan-object.ts";
import { comparesObjects, hasKeyword, type NameReading } from "./reads-names.ts";
import type { SchemaIndex } from "./schema-index.ts";
import type { SchemaObject } from "./walk-schema.ts";
import type { WorkBudget } from "./work-budget.ts";

/**
 * The schemas of one value. `conjuncts` always apply, and the forms of the value and of its parts express what they say
 * about properties and items. `tested` are all others that may decide whether the value is valid: conditions, dependent
 * schemas, branches of merged unions, and what `not` contains. `isComplete` is false if there may be more of them.
 */
type Schemas = {
  conjuncts: readonly SchemaObject[];
  tested: readonly SchemaObject[];
  isComplete: boolean;
};

/** Adds to the soft schemas of a value what `not` contains. */
export function collectTested(
  index: SchemaIndex,
  conjuncts: readonly SchemaObject[],
  soft: SoftSchemas,
  budget: WorkBudget,
): Schemas {
  const found = new Set(soft.schemas);
  let isComplete =
    soft.isComplete && !conjuncts.some((schema) => index.targetsOf(schema).includes(undefined));
  let open = [...conjuncts, ...found].map(({ not }) => not).filter(isObject);
  while (open.length > 0 && isComplete) {
    const negated = collectSoft(index, open, budget);
    isComplete = negated.isComplete;
    const added = negated.schemas.filter((schema) => !found.has(schema));
    for (const schema of added) found.add(schema);
    open = added.map(({ not }) => not).filter(isObject);
  }
  return { conjuncts, tested: [...found], isComplete };
}

const OPENING_KEYWORDS = [
  "additionalProperties",
  "patternProperties",
  "propertyNames",
  "unevaluatedProperties",
];
const COUNTING_KEYWORDS = ["minProperties", "maxProperties"];

/**
 * Whether an object may have further properties only because its schemas do not mention them, and whether it is certain
 * that none of its schemas needs them: leaving them out of a valid object gives a valid object.
 */
export function isSilent(
  index: SchemaIndex,
  { conjuncts, tested, isComplete }: Schemas,
  { fields, absent }: ObjectPlan,
): boolean {
  if (!isComplete || !fields.some(({ isDeclared }) => isDeclared)) return false;
  // The value of a soft property that its schema does not accept needs the list.
  if (fields.some(({ isSoft }) => isSoft)) return false;
  const settled = new Set<unknown>([...absent, ...fields.map(({ name }) => name)]);
  const requiredCount = fields.filter(({ isRequired }) => isRequired).length;
  const has = (schema: SchemaObject) => (keyword: string) => hasKeyword(index, schema, keyword);
  const isLimited = (schema: SchemaObject) =>
    !OPENING_KEYWORDS.some(has(schema)) && namesIn(schema).every((name) => settled.has(name));
  return (
    conjuncts.every((schema) => isLimited(schema) && !(Number(schema.minProperties) > requiredCount)) &&
    tested.every(
      (schema) => isLimited(schema) && !COUNTING_KEYWORDS.some(has(schema)) && !comparesObjects(schema),
    )
  );
}

/** Lists the property names in the keywords of a schema. */
export function namesIn(schema: SchemaObject): unknown[] {
  const keysOf = (value: unknown) => (isObject(value) ? Object.keys(value) : []);
  const listsIn = (value: unknown): unknown[] =>
    isObject(value) ? Object.values(value).flatMap((needed) => (Array.isArray(needed) ? needed : [])) : [];
  const { properties, required, dependentRequired, dependentSchemas, dependencies } = schema;
  return [
    ...keysOf(properties).filter((name) => name !== "__proto__"),
    ...(Array.isArray(required) ? required : []),
    ...[dependentRequired, dependentSchemas, dependencies].flatMap(keysOf),
    ...[dependentRequired, dependencies].flatMap(listsIn),
  ];
}

/**
 * Whether schemas that are not in the formulas of a value's parts may test the property names in these parts. Whether
 * further properties may be left out of a part is then not known from the part's own schemas.
 */
export function testsParts({ conjuncts, tested, isComplete }: Schemas, reading: NameReading): boolean {
  const isTest = (schema: SchemaObject) =>
    schema.uniqueItems === true ||
    [schema.contains, schema.unevaluatedItems, schema.unevaluatedProperties].some(reading.inValue);
  return (
    !isComplete ||
    conjuncts.some(isTest) ||
    testsByPattern(conjuncts, reading) ||
    tested.some(reading.inParts)
  );
}

/**
 * Whether schemas for properties whose names match a pattern read names. They may apply to named properties, too, and
 * several of them to one property. A single pattern in an object without named properties is in the formula of its part.
 */
function testsByPattern(conjuncts: readonly SchemaObject[], reading: NameReading): boolean {
  const patternsOf = ({ patternProperties }: SchemaObject) =>
    isObject(patternProperties) ? Object.values(patternProperties) : [];
  const owners = conjuncts.filter((schema) => patternsOf(schema).length > 0);
  const limiting = conjuncts.filter((schema) =>
    OPENING_KEYWORDS.some((keyword) => schema[keyword] !== undefined),
  );
  const isSingle = limiting.length === 1 && owners.flatMap(patternsOf).length === 1;
  const isMap = conjuncts.every(
    ({ properties }) => !isObject(properties) || Object.keys(properties).length === 0,
  );
  if (isSingle && isMap) return false;
  return owners.some((schema) => [...patternsOf(schema), schema.additionalProperties].some(reading.inValue));
}
