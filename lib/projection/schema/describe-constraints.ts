import { briefText, isObject } from "../json.ts";
import { acceptsEverything } from "./expand-formula.ts";
import { isNever, quoteSchema } from "./quote-schema.ts";
import type { SchemaIndex } from "./schema-index.ts";
import type { SchemaObject } from "./walk-schema.ts";

/** A keyword that a strict schema cannot enforce, and a short sentence that states its constraint for the model. */
type Constraint = { keyword: string; sentence: string };

const QUOTE_CHARACTERS_MAX = 400;
const PATTERN_CHARACTERS_MAX = 2_000;
const count = (value: unknown, noun: string): string => `${value} ${value === 1 ? noun : nounOf(noun)}`;
const nounOf = (noun: string): string => (noun.endsWith("y") ? `${noun.slice(0, -1)}ies` : `${noun}s`);

/**
 * Quotes a pattern with backticks, because JSON would double its backslashes. Only a pattern that contains a backtick
 * is quoted as JSON.
 */
export function quotePattern(pattern: unknown): string {
  const text = String(pattern);
  if (text.length > PATTERN_CHARACTERS_MAX) return `of ${text.length} characters, which is too long to quote`;
  return text.includes("`") ? JSON.stringify(text) : `\`${text}\``;
}

/** Formats a part of the caller's schema as text for the model. */
type Quote = (schema: unknown, charactersMax?: number) => string;

type Describe = (value: unknown, schema: SchemaObject, quote: Quote) => string | undefined;

const sentences: Record<string, Describe> = {
  default: describeDefault,
  format: (value) => `Format: ${value}.`,
  contentEncoding: (value) => `Encoded as ${value}.`,
  contentMediaType: (value) => `Media type: ${value}.`,
  minLength: (value) => `At least ${count(value, "character")}.`,
  maxLength: (value) => `At most ${count(value, "character")}.`,
  pattern: (value) => `Matches the pattern ${quotePattern(value)}.`,
  minimum: (value, schema) =>
    schema.exclusiveMinimum === true ? `More than ${value}.` : `At least ${value}.`,
  maximum: (value, schema) =>
    schema.exclusiveMaximum === true ? `Less than ${value}.` : `At most ${value}.`,
  exclusiveMinimum: (value) => (typeof value === "number" ? `More than ${value}.` : undefined),
  exclusiveMaximum: (value) => (typeof value === "number" ? `Less than ${value}.` : undefined),
  multipleOf: (value) => `A multiple of ${value}.`,
  minItems: (value) => (value === 0 ? undefined : `At least ${count(value, "item")}.`),
  maxItems: (value) => `At most ${count(value, "item")}.`,
  uniqueItems: (value) => (value === true ? "No two items are the same." : undefined),
  contains: describeContains,
  items: (value, schema) =>
    value === false ? `At most ${count(lengthOf(schema.prefixItems), "item")}.` : undefined,
  additionalItems: (value, schema) =>
    value === false && Array.isArray(schema.items)
      ? `At most ${count(schema.items.length, "item")}.`
      : undefined,
  unevaluatedItems: (value, _, quote) =>
    value === false
      ? "No items beyond those described."
      : `Items beyond those described match ${quote(value)}.`,
  minProperties: (value) => (value === 0 ? undefined : `At least ${count(value, "property")}.`),
  maxProperties: (value) => `At most ${count(value, "property")}.`,
  propertyNames: (value, _, quote) => `Every property name matches ${quote(value)}.`,
  patternProperties: describePatterns,
  unevaluatedProperties: (value, _, quote) =>
    value === false
      ? "No properties beyond those described."
      : `Properties beyond those described match ${quote(value)}.`,
  dependentRequired: describeDependencies,
  dependentSchemas: describeDependencies,
  dependencies: describeDependencies,
  // `not: false`, and `not` with another `not: {}`, allows every value, so it needs no sentence. A schema with `not: {}` allows no value, so the projected
  // schema does not describe its values.
  not: (value, _, quote) =>
    isNever(value) || acceptsEverything(value) ? undefined : `Does not match ${quote(value)}.`,
  if: describeCondition,
};

/** Lists the sentences for one schema's own keywords, in the order of the keywords. */
export function describeConstraints(index: SchemaIndex, schema: SchemaObject): Constraint[] {
  const { ignoresRefSiblings, ignoredKeywords } = index.dialect;
  if (ignoresRefSiblings && typeof schema.$ref === "string") return [];
  const quote: Quote = (part, charactersMax = QUOTE_CHARACTERS_MAX) =>
    quoteSchema(index, part, charactersMax);
  const found: Constraint[] = [];
  for (const keyword of Object.keys(schema)) {
    if (ignoredKeywords.has(keyword)) continue;
    const write = Object.hasOwn(sentences, keyword) ? sentences[keyword] : undefined;
    const sentence = write?.(schema[keyword], schema, quote);
    if (sentence !== undefined) found.push({ keyword, sentence });
  }
  return found;
}

/** Writes the sentence for a union whose branches are merged into one form in the projected schema. */
export function describeUnion(
  index: SchemaIndex,
  keyword: "anyOf" | "oneOf",
  branches: readonly unknown[],
): string {
  const how = keyword === "oneOf" ? "exactly one" : "at least one";
  return `Matches ${how} of: ${quoteSchema(index, branches, 2 * QUOTE_CHARACTERS_MAX)}.`;
}

/** A default that is too long to quote is no rule, so it is left out. */
function describeDefault(value: unknown): string | undefined {
  const text = briefText(value, QUOTE_CHARACTERS_MAX);
  return text.endsWith("…") ? undefined : `Default: ${text}.`;
}

function describeContains(
  value: unknown,
  { minContains = 1, maxContains }: SchemaObject,
  quote: Quote,
): string | undefined {
  const most = maxContains === undefined ? "" : ` and at most ${maxContains}`;
  if (minContains === 0 && most === "") return undefined;
  return `At least ${minContains}${most} of the items ${minContains === 1 && most === "" ? "matches" : "match"} ${quote(value)}.`;
}

function describePatterns(
  value: unknown,
  { additionalProperties }: SchemaObject,
  quote: Quote,
): string | undefined {
  if (!isObject(value)) return undefined;
  const [first, ...more] = Object.keys(value);
  if (first === undefined) return undefined;
  if (more.length === 0 && additionalProperties === false)
    return `Every further property name matches ${quotePattern(first)}.`;
  const parts = [first, ...more.slice(0, 9)].map((pattern) =>
    isNever(value[pattern])
      ? `No property name matches ${quotePattern(pattern)}.`
      : `The values of properties whose name matches ${quotePattern(pattern)} match ${quote(value[pattern], 200)}.`,
  );
  return parts.join(" ");
}

function describeDependencies(value: unknown, _: SchemaObject, quote: Quote): string | undefined {
  if (!isObject(value)) return undefined;
  const parts: string[] = [];
  for (const [name, needed] of Object.entries(value).slice(0, 10)) {
    const names = Array.isArray(needed) ? needed.map((each) => JSON.stringify(each)).join(", ") : undefined;
    if (names === "" || acceptsEverything(needed)) continue;
    if (isNever(needed)) parts.push(`Never has the property ${JSON.stringify(name)}.`);
    else
      parts.push(
        `With the property ${JSON.stringify(name)}, ${names ? `also ${names}` : `it matches ${quote(needed)}`}.`,
      );
  }
  return parts.join(" ") || undefined;
}

function describeCondition(value: unknown, schema: SchemaObject, quote: Quote): string | undefined {
  if (isNever(schema.then) && (schema.else === undefined || acceptsEverything(schema.else)))
    return `Never matches ${quote(value)}.`;
  const then = schema.then === undefined ? "" : `it matches ${quote(schema.then)}`;
  const otherwise = schema.else === undefined ? "" : `it matches ${quote(schema.else)}`;
  if (then !== "") return `If it matches ${quote(value)}, ${then}${otherwise && `; otherwise ${otherwise}`}.`;
  return otherwise === "" ? undefined : `Unless it matches ${quote(value)}, ${otherwise}.`;
}

const lengthOf = (value: unknown): number => (Array.isArray(value) ? value.length : 0);
