import { isObject } from "../json.ts";
import { conditionalsOf, listOf } from "./expand-formula.ts";
import type { Schema, SchemaIndex } from "./schema-index.ts";
import type { SchemaObject } from "./walk-schema.ts";
import { type WorkBudget, WorkBudgetSpent } from "./work-budget.ts";

/** Schemas that may apply to one value. `isComplete` is false if further schemas may apply. */
export type SoftSchemas = { schemas: readonly SchemaObject[]; isComplete: boolean };

/**
 * Finds the property names that keywords of a schema other than `unevaluatedProperties` may evaluate.
 * `unevaluatedProperties` does not apply to properties with these names.
 */
export type EvaluatedNames = {
  /** Returns undefined when any name is possible, or the names cannot be determined. */
  of: (schema: SchemaObject) => ReadonlySet<string> | undefined;
};

const SCHEMAS_MAX = 2_000;

/**
 * Collects `roots`, and the schemas that may apply to the same value because of references, `allOf`, unions and
 * conditions.
 */
export function collectSoft(index: SchemaIndex, roots: readonly Schema[], budget: WorkBudget): SoftSchemas {
  const found = new Set<SchemaObject>();
  const open: (Schema | undefined)[] = [...roots];
  let isComplete = true;
  for (let at = 0; at < open.length; at++) {
    const schema = open[at];
    if (schema === undefined || found.size === SCHEMAS_MAX) isComplete = false;
    if (found.size === SCHEMAS_MAX) break;
    if (!isObject(schema) || found.has(schema)) continue;
    try {
      budget.spend(1);
    } catch (error) {
      if (!(error instanceof WorkBudgetSpent)) throw error;
      return { schemas: [...found], isComplete: false };
    }
    open.push(...index.targetsOf(schema));
    if (typeof schema.$ref === "string" && index.dialect.ignoresRefSiblings) continue;
    found.add(schema);
    open.push(
      ...listOf(schema.allOf),
      ...listOf(schema.anyOf),
      ...listOf(schema.oneOf),
      ...conditionalsOf(index, schema),
    );
  }
  return { schemas: [...found], isComplete };
}

export function createEvaluatedNames(index: SchemaIndex, budget: WorkBudget): EvaluatedNames {
  const cached = new Map<SchemaObject, ReadonlySet<string> | undefined>();
  return {
    of(schema) {
      if (!cached.has(schema)) cached.set(schema, findNames(index, schema, budget));
      return cached.get(schema);
    },
  };
}

function findNames(
  index: SchemaIndex,
  owner: SchemaObject,
  budget: WorkBudget,
): ReadonlySet<string> | undefined {
  const { schemas, isComplete } = collectSoft(index, [owner], budget);
  if (!isComplete) return undefined;
  const names = new Set<string>();
  for (const schema of schemas) {
    const isOpen =
      isOpenKeyword(schema.additionalProperties) ||
      schema.patternProperties !== undefined ||
      (schema !== owner && isOpenKeyword(schema.unevaluatedProperties));
    if (isOpen) return undefined;
    if (isObject(schema.properties)) for (const name of Object.keys(schema.properties)) names.add(name);
  }
  return names;
}

/** Whether a keyword with this value may evaluate properties of any name. */
const isOpenKeyword = (value: unknown): boolean => value !== undefined && value !== false;
