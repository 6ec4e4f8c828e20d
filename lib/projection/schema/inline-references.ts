import { isObject, setOwn } from "../json.ts";
import type { SchemaIndex } from "./schema-index.ts";
import type { SchemaObject } from "./walk-schema.ts";

/** Keywords that are omitted when a schema is quoted in a sentence. */
const OMITTED = new Set("$schema $id id $anchor $comment $defs definitions".split(" "));
const PARTS_MAX = 200;
const ELLIPSIS = "…";

/**
 * Prepares a part of a caller's schema to be quoted in a sentence. Local references are replaced by their targets,
 * because the model does not see the caller's definitions. Recursive and long parts are cut off with `…`.
 */
export function inlineReferences(index: SchemaIndex, part: unknown): unknown {
  const open = new Set<SchemaObject>();
  let parts = 0;

  const copy = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return value;
    parts += 1;
    if (parts > PARTS_MAX) return ELLIPSIS;
    if (Array.isArray(value)) return value.slice(0, PARTS_MAX).map(copy);
    return isObject(value) ? copyObject(value) : value;
  };

  const copyObject = (value: SchemaObject): unknown => {
    // Data in `enum`, `const` and `default` is not a schema; it is copied unchanged.
    const isSchema = index.pointerOf(value) !== undefined;
    if (open.has(value)) return ELLIPSIS;
    open.add(value);
    const copied: Record<string, unknown> = {};
    const [target] = isSchema && typeof value.$ref === "string" ? index.targetsOf(value) : [];
    const isAlone = target !== undefined && index.dialect.ignoresRefSiblings;
    for (const key of isAlone ? [] : Object.keys(value)) {
      if (target !== undefined && key === "$ref") continue;
      if (!isSchema || !OMITTED.has(key)) setOwn(copied, key, copy(value[key]));
    }
    const inner = target === undefined ? undefined : copy(target);
    open.delete(value);
    if (target === undefined) return copied;
    if (Object.keys(copied).length === 0) return inner;
    return { ...copied, allOf: [inner, ...(Array.isArray(copied.allOf) ? copied.allOf : [])] };
  };

  return copy(part);
}
