const wordless = new Set(
  "properties patternProperties additionalProperties items prefixItems additionalItems anyOf oneOf allOf if then else not $defs definitions dependentSchemas dependencies components schemas".split(
    " ",
  ),
);

/** A name for the place that a JSON pointer into a schema means: its definition's or property's, or what is nearest. */
export function nameOf(pointer: string | undefined): string {
  const keys = (pointer ?? "").split("/").slice(1);
  const named = keys.findLastIndex((key) => !wordless.has(key) && !/^\d+$/.test(key));
  const name = keys[named]?.replaceAll("~1", "/").replaceAll("~0", "~");
  if (name === undefined) return pointer === "" ? "root" : "part";
  return keys.slice(named + 1).includes("items") ? `${name}_item` : name;
}

/** The name of a definition, where the pointer means one. */
export function definitionName(pointer: string | undefined): string | undefined {
  const [keyword, name, ...more] = (pointer ?? "").split("/").slice(-2);
  return (keyword === "$defs" || keyword === "definitions" || keyword === "schemas") && more.length === 0
    ? name
    : undefined;
}
