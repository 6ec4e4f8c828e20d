import { type JsonSchema, nameOfRef, splitNull } from "#lib/api/openapi/json-schema.ts";

/** Describes a schema's type in a few words: `string`, `array of Message`, `"queue" | "steer"`. */
export function describeType(schema: JsonSchema): string {
  const { isNullable, rest } = splitNull(schema);
  const words = nameType(rest);
  return isNullable && words !== "null" ? `${words} | null` : words;
}

function nameType(schema: JsonSchema): string {
  const name = nameOfRef(schema);
  if (name !== undefined) return name;
  if (schema.not && Object.keys(schema.not).length === 0) return "not allowed";
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.items) return `array of ${describeType(schema.items)}`;
  const choices = schema.properties ? undefined : (schema.anyOf ?? schema.oneOf);
  if (choices) return [...new Set(choices.map(describeType))].join(" | ");
  if (schema.properties) return "object";
  if (typeof schema.additionalProperties === "object")
    return `map of ${describeType(schema.additionalProperties)}`;
  return [schema.type ?? "any value"].flat().join(" | ");
}

/** The page omits maximums of at least this size, because such a maximum is only the limit of the number format. */
const LARGE = 1e12;

/**
 * Lists what the type of a value does not express: its format, lengths, limits and default. Omits trivial limits: a
 * minimum length of 0 or 1, a minimum of 0 or less, and a maximum of at least `LARGE`.
 */
export function describeLimits(schema: JsonSchema): string[] {
  const { minLength, maxLength, minItems, maxItems, minimum, maximum, default: preset, format } = schema;
  const number = (value: number) => value.toLocaleString("en");
  return [
    ...(format !== undefined ? [format] : []),
    ...(minLength !== undefined && minLength > 1 ? [`at least ${number(minLength)} characters`] : []),
    ...(maxLength !== undefined ? [`at most ${number(maxLength)} characters`] : []),
    ...(minItems !== undefined ? [`at least ${number(minItems)} items`] : []),
    ...(maxItems !== undefined ? [`at most ${number(maxItems)} items`] : []),
    ...(minimum !== undefined && minimum > 0 ? [`minimum ${number(minimum)}`] : []),
    ...(maximum !== undefined && maximum < LARGE ? [`maximum ${number(maximum)}`] : []),
    ...(preset !== undefined ? [`default ${JSON.stringify(preset)}`] : []),
  ];
}
