import type { SchemaObject } from "./resolve-schema.ts";

/** Matches limits that are written with a JSON Schema keyword, such as `minItems: 2`. */
const namedNumbers =
  /\b(minItems|maxItems|minLength|maxLength|minProperties|maxProperties|minimum|maximum|exclusiveMinimum|exclusiveMaximum|multipleOf)\b["'`]?\s*(?:is|of|=|:)?\s*(-?\d{1,15}(?:\.\d{1,10})?)/g;
const namedTexts =
  /\b(pattern|format)\b["'`]?\s*(?:is|of|=|:)\s*("(?:[^"\\]|\\.){1,500}"|`[^`]{1,500}`|[^\s,;]{1,500})/g;

/** Matches limits in the sentences that `lib/deliverable` adds to descriptions, such as `At least 2 items.` */
const sentences =
  /\b(At least|At most|More than|Less than|A multiple of) (-?\d{1,15}(?:\.\d{1,10})?)(?: (character|item|propert)(?:s|y|ies)?)?\./g;
const textSentences =
  /\b(Format:|Matches the pattern) (`[^`]{1,500}`|"(?:[^"\\]|\\.){1,500}"|.{1,500}?)\.(?= [A-Z]|$)/g;
const keywords: Record<string, string> = {
  "At least": "minimum",
  "At least character": "minLength",
  "At least item": "minItems",
  "At least propert": "minProperties",
  "At most": "maximum",
  "At most character": "maxLength",
  "At most item": "maxItems",
  "At most propert": "maxProperties",
  "More than": "exclusiveMinimum",
  "Less than": "exclusiveMaximum",
  "A multiple of": "multipleOf",
  "Format:": "format",
  "Matches the pattern": "pattern",
};

/** Returns the schema with added keywords for the constraints that only its description states. */
export function addDescribedLimits(schema: SchemaObject): SchemaObject {
  if (typeof schema.description !== "string") return schema;
  const described = schema.description.slice(0, 5_000);
  const added: SchemaObject = {};
  const add = (keyword: string | undefined, value: unknown) => {
    if (keyword !== undefined && !(keyword in schema)) added[keyword] = value;
  };
  for (const [, keyword, value] of described.matchAll(namedNumbers)) add(keyword, Number(value));
  for (const [, keyword, value = ""] of described.matchAll(namedTexts)) add(keyword, unquote(value));
  for (const [, words = "", value, noun] of described.matchAll(sentences))
    add(keywords[noun ? `${words} ${noun}` : words], Number(value));
  for (const [, words = "", value = ""] of described.matchAll(textSentences))
    add(keywords[words], unquote(value));
  if (described.includes("No two items are the same.")) add("uniqueItems", true);
  return Object.keys(added).length === 0 ? schema : { ...schema, ...added };
}

function unquote(raw: string): unknown {
  if (raw.startsWith("`")) return raw.slice(1, -1);
  if (!raw.startsWith('"')) return raw.replace(/\.$/, "");
  try {
    return JSON.parse(raw);
  } catch {
    return raw.slice(1, -1);
  }
}
