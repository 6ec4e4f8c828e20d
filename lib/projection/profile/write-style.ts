import { addWords } from "../codec/add-words.ts";
import { isObject, type JsonSchema } from "../json.ts";
import type { ProfileRules } from "./profile.ts";

/**
 * Rewrites a projected schema in the notation of a provider: null as one more type where the provider reads that, and
 * `enum` for a provider without `const`. The schemas mean the same before and after.
 */
export function writeStyle(schema: JsonSchema, rules: ProfileRules): JsonSchema {
  const copy: JsonSchema = {};
  const moved: string[] = [];
  const writePart = (name: string, part: unknown): unknown => {
    if (!isObject(part)) return part;
    const words = rules.unionsMax < Number.POSITIVE_INFINITY ? readReferenceWords(part) : undefined;
    if (words === undefined) return writeStyle(part, rules);
    moved.push(`${name}: ${words}`);
    return (part.anyOf as unknown[])[0];
  };
  for (const [keyword, value] of Object.entries(schema)) {
    if ((keyword === "properties" || keyword === "$defs") && isObject(value))
      copy[keyword] = Object.fromEntries(
        Object.entries(value).map(([name, part]) => [name, writePart(name, part)]),
      );
    else if (keyword === "items" && isObject(value)) copy.items = writePart("Items", value);
    else if (keyword === "anyOf" && Array.isArray(value))
      copy.anyOf = value.map((part) => (isObject(part) ? writeStyle(part, rules) : part));
    else copy[keyword] = value;
  }
  const styled = mergeNull(moved.length > 0 ? addWords(copy, "", moved.join(" ")) : copy, rules);
  if (rules.keywords.has("const") || !("const" in styled)) return styled;
  const { const: only, ...rest } = styled;
  return { ...rest, enum: [only] };
}

/**
 * Returns the words next to a reference. They are in an `anyOf` with one branch, which a provider that limits unions
 * counts as one of them, so they are moved to the schema around it.
 */
function readReferenceWords({ anyOf, description }: JsonSchema): string | undefined {
  const isSingle = Array.isArray(anyOf) && anyOf.length === 1;
  return isSingle && typeof description === "string" ? description : undefined;
}

/** Turns `anyOf: [schema, null]` into one schema with the type null, if the provider reads this. */
function mergeNull(schema: JsonSchema, { hasNullableParts }: ProfileRules): JsonSchema {
  const { anyOf, ...words } = schema;
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return schema;
  const [branch, other] = anyOf as JsonSchema[];
  const { type, description, ...rest } = branch ?? {};
  if (other?.type !== "null" || Object.keys(other).length > 1 || typeof type !== "string" || type === "null")
    return schema;
  if (description !== undefined && words.description !== undefined) return schema;
  if (!hasNullableParts && (type === "object" || type === "array")) return schema;
  const text = description === undefined ? words : { description, ...words };
  if (!("const" in rest || Array.isArray(rest.enum))) return { type: [type, "null"], ...rest, ...text };
  const { const: only, enum: values = [only], ...more } = rest;
  return { type: [type, "null"], ...more, enum: [...(values as unknown[]), null], ...text };
}
