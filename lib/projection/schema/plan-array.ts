import { stableText } from "../json.ts";
import { conjoin, type Formula } from "./formula.ts";
import { isSchema, type Schema, type SchemaIndex } from "./schema-index.ts";
import type { SchemaObject } from "./walk-schema.ts";
import type { WorkBudget } from "./work-budget.ts";

/** The formulas for the first items by position and for all later items. Without `rest`, no later items are allowed. */
type ArrayPlan = { positions: readonly Formula[]; rest: Formula | undefined; lengthMin: number };

/** Plans the form of lists that satisfy all of the schemas. @returns undefined if no list does. @throws WorkBudgetSpent */
export function planArray(
  index: SchemaIndex,
  conjuncts: readonly SchemaObject[],
  budget: WorkBudget,
): ArrayPlan | undefined {
  const claims = conjuncts.map((schema) => readItems(index, schema));
  const length = Math.max(0, ...claims.map(({ prefix }) => prefix.length));
  const lengthMin = Math.max(
    0,
    ...conjuncts.map(({ minItems }) => (typeof minItems === "number" ? minItems : 0)),
  );
  const rest = conjoin(claims.map((claim) => claim.rest));
  const tuples = claims.filter(({ prefix, rest }) => prefix.length > 0 || rest !== true);
  const positions: Formula[] = [];
  for (let at = 0; at < length; at++) {
    budget.spend(1 + tuples.length);
    const formula = conjoin(tuples.map((claim) => claim.prefix[at] ?? claim.rest));
    if (formula === undefined)
      return at < lengthMin ? undefined : trim({ positions, rest: undefined, lengthMin });
    positions.push(formula);
  }
  if (rest === undefined && lengthMin > length) return undefined;
  return trim({ positions, rest, lengthMin });
}

/** Turns the tuple into an ordinary list if all positions (and `rest`, if set) have the same small scalar schema. */
function trim(plan: ArrayPlan): ArrayPlan {
  const { positions, rest } = plan;
  const [first] = positions;
  if (first === undefined) return plan;
  const all = rest ? [...positions, rest] : positions;
  const text = textOf(first);
  if (text === undefined || !all.every((formula) => textOf(formula) === text)) return plan;
  return { ...plan, positions: [], rest: first };
}

function textOf({ described }: Formula): string | undefined {
  const [only] = described;
  if (only === undefined || described.length > 1 || Object.keys(only).length > 3) return undefined;
  return typeof only.type === "string" && only.type !== "object" && only.type !== "array"
    ? stableText(only)
    : undefined;
}

function readItems({ dialect }: SchemaIndex, schema: SchemaObject): { prefix: Schema[]; rest: Schema } {
  const { tupleKeyword } = dialect;
  const tuple = schema[tupleKeyword];
  const prefix = Array.isArray(tuple) ? tuple.map((item) => (isSchema(item) ? item : true)) : [];
  const rest = tupleKeyword === "items" && Array.isArray(tuple) ? schema.additionalItems : schema.items;
  return { prefix, rest: isSchema(rest) ? rest : true };
}
