import { ownValue } from "../json.ts";
import { isSchema, type Schema, type SchemaIndex } from "./schema-index.ts";
import type { SchemaObject } from "./walk-schema.ts";

/**
 * The schemas for one value. The value has to satisfy all of `described` and all of `base`. The description of the
 * value's node covers only `described`, because the node of the union around it covers `base`. `settled` contains the
 * keys of the unions for which a branch has been chosen; the chosen branches are in `described` and `base`.
 */
export type Formula = {
  described: readonly SchemaObject[];
  base: readonly SchemaObject[];
  settled: ReadonlySet<string>;
  /** The keys of the unions whose branches are merged into one form. Each branch may apply to the value. */
  joined: ReadonlySet<string>;
  /**
   * Whether schemas outside the formula may test the property names of the value, or of objects in it. All these objects
   * then keep a list of further properties.
   */
  isTested: boolean;
};

const NONE: ReadonlySet<string> = new Set();

/** Returns the formula of a value to which all of the schemas apply; undefined if one of them is `false`. */
export function conjoin(schemas: readonly Schema[]): Formula | undefined {
  if (schemas.includes(false)) return undefined;
  const objects = schemas.filter((schema) => schema !== true);
  const described = [...new Set(objects as SchemaObject[])];
  return { described, base: [], settled: NONE, joined: NONE, isTested: false };
}

export const unionKey = (index: SchemaIndex, schema: SchemaObject, keyword: string): string =>
  `${index.idOf(schema)}${keyword[0]}`;

/** Returns a key that is the same for equal formulas. */
export function formulaKey(
  index: SchemaIndex,
  { described, base, settled, joined, isTested }: Formula,
): string {
  const ids = (schemas: readonly SchemaObject[]) => schemas.map(index.idOf).join();
  const start = `${isTested ? "tested " : ""}${ids(described)}`;
  if (settled.size === 0 && joined.size === 0) return start;
  return `${start}|${ids(base)}|${[...settled].join()}|${[...joined].join()}`;
}

/** Keywords without an effect on values. */
const ANNOTATIONS = new Set(
  "$schema $id id $comment title description default examples example deprecated readOnly writeOnly $defs definitions nullable externalDocs xml".split(
    " ",
  ),
);

/**
 * Follows schemas that are only an alias of another schema. An alias has a `$ref`, or an `allOf` with one branch, and
 * otherwise only annotations.
 *
 * @returns the schema at the end of the chain, and the first description of an alias in the chain.
 */
export function followAliases(index: SchemaIndex, schema: SchemaObject): { schema: Schema; words: string } {
  const seen = new Set<SchemaObject>();
  let words = "";
  let at: SchemaObject = schema;
  while (!seen.has(at)) {
    seen.add(at);
    const next = readAlias(index, at);
    if (next === undefined) break;
    words ||= readWords(at, false);
    if (typeof next === "boolean") return { schema: next, words };
    at = next;
  }
  return { schema: at, words };
}

/** Whether a keyword has no effect on values. */
export const isAnnotation = (keyword: string): boolean => ANNOTATIONS.has(keyword);

function readAlias(index: SchemaIndex, schema: SchemaObject): Schema | undefined {
  const hasRef = typeof schema.$ref === "string";
  if (!(hasRef && index.dialect.ignoresRefSiblings))
    for (const keyword in schema)
      if (keyword !== "$ref" && keyword !== "allOf" && !ANNOTATIONS.has(keyword)) return undefined;
  const list = Array.isArray(schema.allOf) && !hasRef ? schema.allOf : [];
  if (hasRef && (schema.allOf === undefined || index.dialect.ignoresRefSiblings))
    return index.targetsOf(schema)[0];
  return list.length === 1 && isSchema(list[0]) ? list[0] : undefined;
}

/**
 * Returns the caller's own description of a schema. If there is none, returns the title if `isTitleWanted`, otherwise
 * "".
 */
export function readWords(schema: SchemaObject, isTitleWanted: boolean): string {
  const description = ownValue(schema, "description");
  if (typeof description === "string" && description.trim() !== "") return description.trim();
  return isTitleWanted && typeof schema.title === "string" ? schema.title.trim() : "";
}

/** Returns one schema that says what the described schemas of a formula say. */
export function schemaOf({ described }: Formula): Schema {
  const [first] = described;
  if (first === undefined) return true;
  return described.length === 1 ? first : { allOf: described };
}
