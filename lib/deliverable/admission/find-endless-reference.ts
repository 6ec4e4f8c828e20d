import { childrenOf, type Place, resolveReference, type SchemaObject } from "./walk-schema.ts";

/**
 * The pointer of a `$ref` that comes back to itself without going into the value (`allOf: [{ $ref: "#" }]`): such a
 * schema never ends on any value. Recursion through properties or items is not of that kind.
 */
export function findEndlessReference(
  root: SchemaObject,
  places: ReadonlyMap<SchemaObject, Place>,
): string | undefined {
  const state = new Map<SchemaObject, "open" | "done">();

  const visit = (schema: SchemaObject): string | undefined => {
    const place = places.get(schema);
    if (place === undefined || state.get(schema) === "done") return undefined;
    state.set(schema, "open");
    for (const child of childrenOf(place)) {
      const found = child.isInPlace ? visit(child.schema) : undefined;
      if (found !== undefined) return found;
    }
    const target = resolveReference(root, place, schema.$ref)?.schema;
    if (target !== undefined) {
      if (state.get(target) === "open") return `${place.pointer}/$ref`;
      const found = visit(target);
      if (found !== undefined) return found;
    }
    state.set(schema, "done");
    return undefined;
  };

  for (const schema of places.keys()) {
    const found = visit(schema);
    if (found !== undefined) return found;
  }
  return undefined;
}
