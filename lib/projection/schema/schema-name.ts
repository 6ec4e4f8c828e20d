/** The name of a schema, for definitions and labels. */
export type SchemaName = { text: string; isDefinition: boolean };

export const rootName: SchemaName = { text: "root", isDefinition: false };

const DEFINITION_KEYWORDS = new Set(["$defs", "definitions", "schemas"]);
const NAME_KEYWORDS = new Set([...DEFINITION_KEYWORDS, "properties", "dependentSchemas", "dependencies"]);

/**
 * Names the schema under the given keys of another schema, whose name is `outer`. The name is the schema's own key, or
 * is derived from `outer`.
 */
export function nameInside(outer: SchemaName, [keyword = "", key]: readonly string[]): SchemaName {
  if (key !== undefined && NAME_KEYWORDS.has(keyword))
    return { text: key, isDefinition: DEFINITION_KEYWORDS.has(keyword) };
  const isItem = (keyword === "items" || keyword === "prefixItems") && !outer.text.endsWith("_item");
  return { text: isItem ? `${outer.text}_item` : outer.text, isDefinition: false };
}
