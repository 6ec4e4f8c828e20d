import type { JsonSchema } from "../json.ts";

/**
 * Adds sentences before and after a schema's description. A `$ref` is moved into an `anyOf`, because no description may
 * be next to a `$ref`.
 */
export function addWords(schema: JsonSchema, before: string, after = ""): JsonSchema {
  if (before === "" && after === "") return schema;
  if (typeof schema.$ref === "string") return { anyOf: [schema], description: joinSentences(before, after) };
  const own = typeof schema.description === "string" ? schema.description : "";
  return { ...schema, description: joinSentences(before, own, after) };
}

/** Joins texts with spaces and adds missing full stops between them. */
export function joinSentences(...texts: string[]): string {
  const parts = texts.map((text) => text.trim()).filter((text) => text !== "");
  return parts
    .map((text, index) => (index === parts.length - 1 || /[.!?:…]$/.test(text) ? text : `${text}.`))
    .join(" ");
}

/**
 * Returns a schema that accepts each value that at least one of the two schemas accepts. It has the description of
 * `schema`.
 */
export function orElse(schema: JsonSchema, other: JsonSchema): JsonSchema {
  const { description, ...rest } = schema;
  const words = typeof description === "string" ? { description } : {};
  if (other.type === "null" && typeof rest.type === "string" && Object.keys(rest).length === 1)
    return { type: [rest.type, "null"], ...words };
  const branches = Array.isArray(rest.anyOf) ? rest.anyOf : [rest];
  return { anyOf: [...branches, other], ...words };
}

/** Returns a schema that accepts what at least one of the schemas accepts. Equal schemas are written once. */
export function anyOf(schemas: readonly JsonSchema[]): JsonSchema {
  const distinct = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
  const [only] = distinct;
  if (only && distinct.length === 1) return only;
  if (distinct.some((schema) => Object.keys(schema).length === 0)) return {};
  const isType = ({ type, ...rest }: JsonSchema) =>
    typeof type === "string" && Object.keys(rest).length === 0;
  return distinct.every(isType) ? { type: distinct.map(({ type }) => type) } : { anyOf: distinct };
}
