import { findFact, type Scope } from "./match-fact.ts";
import type { SchemaObject } from "./resolve-schema.ts";

const limit = (value: unknown, otherwise: number) => (typeof value === "number" ? value : otherwise);

/** A number within all limits of the schema, the page's own where it obeys them. */
export function buildNumber(
  schema: SchemaObject,
  { name, scope, position }: { name: string; scope: Scope; position?: number },
  isInteger: boolean,
): number {
  const fact = findFact(scope, name);
  const spoken =
    typeof fact === "number"
      ? fact
      : typeof fact === "string"
        ? Number(fact.match(/\d+(?:[.,]\d+)?/)?.[0]?.replace(",", ".") ?? 0)
        : (position ?? 0);
  const step = limit(schema.multipleOf, isInteger ? 1 : 0);
  const unit = step > 0 ? step : isInteger ? 1 : 0;
  const open = unit > 0 ? unit : 0.5;
  const low = Math.max(
    limit(schema.minimum, Number.NEGATIVE_INFINITY),
    exclusive(schema.exclusiveMinimum, schema.minimum, open),
  );
  const high = Math.min(
    limit(schema.maximum, Number.POSITIVE_INFINITY),
    exclusive(schema.exclusiveMaximum, schema.maximum, -open),
  );
  let value = Math.min(Math.max(spoken, low), Math.max(high, low));
  if (unit > 0) {
    value = Math.floor(value / unit) * unit;
    if (value < low) value += unit;
    if (!isInteger) value = Number(value.toPrecision(12));
  } else if (value >= high && low > Number.NEGATIVE_INFINITY && low < high) value = (low + high) / 2;
  // Between two open ends that lie closer together than the usual step, the middle is inside.
  if (unit === 0 && low > high)
    value = (limit(schema.exclusiveMinimum, low) + limit(schema.exclusiveMaximum, high)) / 2;
  return value === 0 ? 0 : value;
}

/** An open end as a closed one: draft 4 says `true` beside the limit, later drafts the limit itself. */
function exclusive(end: unknown, limitBeside: unknown, by: number): number {
  if (typeof end === "number") return end + by;
  if (end === true && typeof limitBeside === "number") return limitBeside + by;
  return by > 0 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}
