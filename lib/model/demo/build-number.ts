import { findFact, type Scope } from "./match-fact.ts";
import type { SchemaObject } from "./resolve-schema.ts";

const limit = (value: unknown, fallback: number) => (typeof value === "number" ? value : fallback);

/**
 * Returns a number for the schema. If the page's fact for the name is a number, this number is used. If the fact is a
 * text, the first number in the text is used, or 0 if there is none. Otherwise `position` is used (0 outside a list).
 * If necessary, the number is moved into the limits of the schema.
 */
export function buildNumber(
  schema: SchemaObject,
  { name, scope, position }: { name: string; scope: Scope; position?: number },
  isInteger: boolean,
): number {
  const fact = findFact(scope, name);
  const pageNumber =
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
  let value = Math.min(Math.max(pageNumber, low), Math.max(high, low));
  if (unit > 0) {
    value = Math.floor(value / unit) * unit;
    if (value < low) value += unit;
    if (!isInteger) value = Number(value.toPrecision(12));
  } else if (value >= high && low > Number.NEGATIVE_INFINITY && low < high) value = (low + high) / 2;
  // If two exclusive limits are so close together that `low` exceeds `high`, uses the middle between the limits.
  if (unit === 0 && low > high)
    value = (limit(schema.exclusiveMinimum, low) + limit(schema.exclusiveMaximum, high)) / 2;
  return value === 0 ? 0 : value;
}

/**
 * Converts an exclusive limit to an inclusive one. In Draft 4 of JSON Schema, the value of an exclusive keyword is
 * `true`, and the limit is in `minimum` or `maximum`. In later drafts, the value of the exclusive keyword is the limit.
 */
function exclusive(end: unknown, separateLimit: unknown, by: number): number {
  if (typeof end === "number") return end + by;
  if (end === true && typeof separateLimit === "number") return separateLimit + by;
  return by > 0 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}
