import type { JsonSchema } from "../json.ts";
import type { Kinds } from "./kinds.ts";
import type { SchemaObject } from "./walk-schema.ts";

/** The keywords for bounds that a provider enforces, with the values that it accepts. */
export type BoundRules = {
  numbers: ReadonlySet<string>;
  /** Whether the provider enforces `minItems` with a value, and `maxItems`. */
  minItems: (value: number) => boolean;
  maxItems: boolean;
  formats: ReadonlySet<string>;
  pattern: (source: string) => boolean;
};

/** Bounds as keywords of the projected schema, and the caller's keywords that need no sentence because of them. */
type Bounds = { schema: JsonSchema; keywords: ReadonlySet<string> };

const NONE: Bounds = { schema: {}, keywords: new Set() };

/**
 * Reads the bounds of a value that has one type. A keyword that several schemas have for the value becomes one keyword
 * if there is one with the same meaning.
 */
export function readBounds(
  rules: BoundRules | undefined,
  conjuncts: readonly SchemaObject[],
  kinds: Kinds,
): Bounds {
  const [kind] = kinds;
  if (rules === undefined || kind === undefined || kinds.size > 1) return NONE;
  const schema: JsonSchema = {};
  const keywords = new Set<string>();
  const take = (keyword: string, value: unknown) => {
    keywords.add(keyword);
    if (value !== undefined) schema[keyword] = value;
  };
  const numbersOf = (keyword: string): number[] =>
    conjuncts.map((each) => each[keyword]).filter((value) => typeof value === "number");

  if (kind === "number" || kind === "integer") {
    // In draft-04, these are flags that change what the other keyword means.
    const hasFlags = conjuncts.some((each) =>
      [each.exclusiveMinimum, each.exclusiveMaximum].some((value) => typeof value === "boolean"),
    );
    for (const keyword of rules.numbers) {
      const values = numbersOf(keyword);
      if (values.length === 0 || (hasFlags && keyword !== "multipleOf")) continue;
      // Binary fractions are not exactly the multiples that their decimal digits say.
      if (keyword === "multipleOf" && !(new Set(values).size === 1 && values.every(Number.isInteger)))
        continue;
      take(keyword, /^(minimum|exclusiveMinimum)$/.test(keyword) ? Math.max(...values) : Math.min(...values));
    }
  }
  if (kind === "array") {
    const least = Math.max(0, ...numbersOf("minItems"));
    if (rules.minItems(least)) take("minItems", least > 0 ? least : undefined);
    const most = numbersOf("maxItems");
    if (rules.maxItems && most.length > 0) take("maxItems", Math.min(...most));
  }
  if (kind === "string") {
    for (const keyword of ["format", "pattern"] as const) {
      const values = new Set(conjuncts.map((each) => each[keyword]).filter((value) => value !== undefined));
      const [only] = values;
      if (values.size !== 1 || typeof only !== "string") continue;
      if (keyword === "format" ? rules.formats.has(only) : rules.pattern(only)) take(keyword, only);
    }
  }
  return { schema, keywords };
}
