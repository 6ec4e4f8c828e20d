import { isObject } from "../json.ts";
import type { Schema, SchemaIndex } from "./schema-index.ts";
import { childrenOf, type SchemaObject } from "./walk-schema.ts";

/** Answers whether the verdict of a schema may depend on the names of properties. */
export type NameReading = {
  /** Of the properties of the value, or of objects in it. */
  inValue: (schema: unknown) => boolean;
  /** Of objects in the value, apart from what schemas in keywords such as `allOf` say about them. */
  inParts: (schema: SchemaObject) => boolean;
};

const NAME_KEYWORDS =
  "properties required additionalProperties patternProperties propertyNames unevaluatedProperties minProperties maxProperties dependentRequired dependentSchemas dependencies".split(
    " ",
  );
/** Keywords whose subschemas apply neither to the value nor to its parts. */
const DEFINITION_KEYWORDS = new Set(["$defs", "definitions", "contentSchema"]);
/** If a schema consists of more schemas, it counts as one that reads names. */
const SCHEMAS_MAX = 200;

/** The answers are cached. */
export function createNameReading(index: SchemaIndex): NameReading {
  const inValue = cache((schema) => search(index, schema));
  const inParts = cache((schema) => comparesObjects(schema) || partsIn(schema).some((part) => inValue(part)));
  return { inValue: (schema) => isObject(schema) && inValue(schema), inParts };
}

function cache(compute: (schema: SchemaObject) => boolean): (schema: SchemaObject) => boolean {
  const cached = new Map<SchemaObject, boolean>();
  return (schema) => {
    const answer = cached.get(schema) ?? compute(schema);
    cached.set(schema, answer);
    return answer;
  };
}

/** Lists the schemas in a schema's keywords that apply to the parts of a value. */
const partsIn = (schema: SchemaObject): SchemaObject[] =>
  childrenOf({ pointer: "", schema }).flatMap(({ keys: [keyword = ""], schema: part, isInPlace }) =>
    isInPlace || DEFINITION_KEYWORDS.has(keyword) ? [] : [part],
  );

function search(index: SchemaIndex, root: SchemaObject): boolean {
  const found = new Set<Schema>([root]);
  for (const schema of found) {
    if (!isObject(schema)) continue;
    for (const target of index.targetsOf(schema)) {
      if (target === undefined) return true;
      found.add(target);
    }
    if (typeof schema.$ref === "string" && index.dialect.ignoresRefSiblings) continue;
    if (NAME_KEYWORDS.some((keyword) => hasKeyword(index, schema, keyword)) || comparesObjects(schema))
      return true;
    for (const child of childrenOf({ pointer: "", schema }))
      if (!DEFINITION_KEYWORDS.has(child.keys[0] ?? "")) found.add(child.schema);
    if (found.size > SCHEMAS_MAX) return true;
  }
  return false;
}

/** Whether a schema has a keyword that its draft does not ignore. */
export const hasKeyword = ({ dialect }: SchemaIndex, schema: SchemaObject, keyword: string): boolean =>
  Object.hasOwn(schema, keyword) && !dialect.ignoredKeywords.has(keyword);

/** Whether a schema compares whole lists or objects with each other, or with listed ones. */
export function comparesObjects(schema: SchemaObject): boolean {
  const listed: unknown[] = [schema.const, ...(Array.isArray(schema.enum) ? schema.enum : [])];
  return schema.uniqueItems === true || listed.some((value) => typeof value === "object" && value !== null);
}
