/** The name of a place, for definitions and labels. */
export type PlaceName = { text: string; isDefinition: boolean };

export const rootName: PlaceName = { text: "root", isDefinition: false };

const definitionKeywords = new Set(["$defs", "definitions", "schemas"]);
const nameKeywords = new Set([...definitionKeywords, "properties", "dependentSchemas", "dependencies"]);

/** The name of a place under these keys of another place: its own, or one derived from the other's. */
export function nameInside(outer: PlaceName, [keyword = "", key]: readonly string[]): PlaceName {
  if (key !== undefined && nameKeywords.has(keyword))
    return { text: key, isDefinition: definitionKeywords.has(keyword) };
  const isItem = (keyword === "items" || keyword === "prefixItems") && !outer.text.endsWith("_item");
  return { text: isItem ? `${outer.text}_item` : outer.text, isDefinition: false };
}
