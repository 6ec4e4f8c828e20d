import { isObject, type JsonSchema, ownValue, setOwn } from "../json.ts";
import { acceptsEverything } from "./expand-formula.ts";
import { inlineReferences } from "./inline-references.ts";
import type { SchemaIndex } from "./schema-index.ts";

/** Keywords that say nothing about which values are valid. They are the first to go from a long quotation. */
const COMMENTS = new Set(
  "title description default examples example deprecated readOnly writeOnly markdownDescription".split(" "),
);
const LEVELS = [6, 4, 3, 2, 1];

/**
 * Writes a part of a caller's schema as JSON for a sentence. A long part is quoted with fewer details: first without
 * descriptions, then with fewer levels. A schema that is left out becomes `…`; a rule is never cut off.
 */
export function quoteSchema(index: SchemaIndex, part: unknown, charactersMax: number): string {
  const whole = nameNever(inlineReferences(index, part));
  let text = JSON.stringify(whole) ?? "null";
  if (text.length <= charactersMax) return text;
  for (const levels of LEVELS) {
    text = JSON.stringify(reduce(whole, levels)) ?? "null";
    if (text.length <= charactersMax) return text;
  }
  return "…";
}

/** Copies a schema without comments. Parts below the given number of levels become `…`. */
function reduce(part: unknown, levels: number): unknown {
  if (Array.isArray(part)) {
    const scalars = part.filter((each) => typeof each !== "object");
    return scalars.length === part.length ? part : part.map((each) => reduce(each, levels));
  }
  if (!isObject(part)) return part;
  if (levels === 0) return typeof part.type === "string" ? { type: part.type } : "…";
  const reduced: JsonSchema = {};
  for (const [keyword, value] of Object.entries(part)) {
    if (COMMENTS.has(keyword) && !isObject(value)) continue;
    if (keyword === "enum" || keyword === "const" || keyword === "required") {
      reduced[keyword] = value;
      continue;
    }
    const isMap = keyword === "properties" || keyword === "patternProperties";
    reduced[keyword] =
      isMap && isObject(value)
        ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, reduce(each, levels - 1)]))
        : reduce(value, levels - 1);
  }
  return reduced;
}

/** Whether a schema is certain to accept no value: `false`, or `not` with a schema that accepts every value. */
export const isNever = (schema: unknown): boolean =>
  schema === false || (isObject(schema) && acceptsEverything(ownValue(schema, "not")));

/** Replaces schemas that accept nothing, such as `{ "not": {} }`, by the word `never`. */
function nameNever(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(nameNever);
  if (!isObject(part)) return part;
  if (Object.keys(part).length === 1 && isNever(part)) return "never";
  const copy: JsonSchema = {};
  for (const [key, value] of Object.entries(part))
    setOwn(copy, key, key === "enum" || key === "const" || key === "default" ? value : nameNever(value));
  return copy;
}
