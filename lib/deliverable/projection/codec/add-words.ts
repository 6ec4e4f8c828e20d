import type { JsonSchema } from "../json.ts";

/** A schema with words before and after its own; a `$ref` may have none beside it, so it moves into an anyOf of one. */
export function addWords(schema: JsonSchema, before: string, after = ""): JsonSchema {
  if (before === "" && after === "") return schema;
  if (typeof schema.$ref === "string") return { anyOf: [schema], description: joinSentences(before, after) };
  const own = typeof schema.description === "string" ? schema.description : "";
  return { ...schema, description: joinSentences(before, own, after) };
}

/** Texts one after the other, each ended like a sentence before the next begins. */
export function joinSentences(...texts: string[]): string {
  const parts = texts.map((text) => text.trim()).filter((text) => text !== "");
  return parts
    .map((text, index) => (index === parts.length - 1 || /[.!?:…]$/.test(text) ? text : `${text}.`))
    .join(" ");
}

/** A schema that takes another form too. */
export function orElse(schema: JsonSchema, other: JsonSchema): JsonSchema {
  const { description, ...rest } = schema;
  const words = typeof description === "string" ? { description } : {};
  if (other.type === "null" && typeof rest.type === "string" && Object.keys(rest).length === 1)
    return { type: [rest.type, "null"], ...words };
  const branches = Array.isArray(rest.anyOf) ? rest.anyOf : [rest];
  return { anyOf: [...branches, other], ...words };
}
