import { isObject } from "#lib/projection/json.ts";

/**
 * Lists the definitions of a document that are object schemas, each as a schema of its own with the definitions that it
 * needs. Large documents, such as the schemas of configuration files, give many typical schemas in this way.
 */
export function listDefinitions(document: unknown): { name: string; schema: Record<string, unknown> }[] {
  if (!isObject(document)) return [];
  const { $schema } = document;
  return ["definitions", "$defs"].flatMap((keyword) => {
    const definitions = document[keyword];
    if (!isObject(definitions)) return [];
    return Object.entries(definitions).flatMap(([name, definition]) => {
      if (!isObject(definition) || definition.type !== "object") return [];
      const needed = findNeeded(definition, keyword, definitions);
      if (needed === undefined) return [];
      const own = Object.keys(needed).length > 0 && { [keyword]: needed };
      return [{ name, schema: { ...(typeof $schema === "string" && { $schema }), ...definition, ...own } }];
    });
  });
}

/** Finds the definitions that a schema refers to; undefined if it refers to anything else. */
function findNeeded(
  root: Record<string, unknown>,
  keyword: string,
  definitions: Record<string, unknown>,
): Record<string, unknown> | undefined {
  const needed = new Map<string, unknown>();
  const open: unknown[] = [root];
  while (open.length > 0) {
    const part = open.pop();
    if (Array.isArray(part)) open.push(...part);
    if (!isObject(part)) continue;
    open.push(...Object.values(part));
    if (typeof part.$ref !== "string") continue;
    const [, name] = new RegExp(`^#/${keyword.replace("$", "\\$")}/([^/%~]+)$`).exec(part.$ref) ?? [];
    if (name === undefined || !Object.hasOwn(definitions, name)) return undefined;
    if (!needed.has(name)) open.push(definitions[name]);
    needed.set(name, definitions[name]);
  }
  return Object.fromEntries(needed);
}
