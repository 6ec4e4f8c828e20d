/** A JSON Schema object. */
export type SchemaObject = Record<string, unknown>;

export const isSchemaObject = (value: unknown): value is SchemaObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** Decodes a part of a URI fragment; returns a part with an invalid escape unchanged. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Finds the subschema that a local `$ref` (`#`, `#/…`, `#anchor`) refers to; `{}` if there is none. */
function findRef(root: SchemaObject, ref: string): SchemaObject {
  if (!ref.startsWith("#")) return {};
  let found: unknown = root;
  if (ref.startsWith("#/")) {
    for (const step of ref.slice(2).split("/")) {
      const key = decode(step).replace(/~1/g, "/").replace(/~0/g, "~");
      found = Array.isArray(found) ? found[Number(key)] : isSchemaObject(found) ? found[key] : undefined;
    }
  } else if (ref.length > 1) {
    const defs = {
      ...(isSchemaObject(root.definitions) ? root.definitions : {}),
      ...(isSchemaObject(root.$defs) ? root.$defs : {}),
    };
    found = Object.values(defs).find(
      (def) => isSchemaObject(def) && (def.$anchor === ref.slice(1) || def.$id === ref),
    );
  }
  return isSchemaObject(found) ? found : {};
}

const tighter: Record<string, (a: number, b: number) => number> = {
  ...Object.fromEntries(
    ["minItems", "minLength", "minimum", "exclusiveMinimum", "minProperties"].map((key) => [key, Math.max]),
  ),
  ...Object.fromEntries(
    ["maxItems", "maxLength", "maximum", "exclusiveMaximum", "maxProperties"].map((key) => [key, Math.min]),
  ),
};

/**
 * Merges two schemas into one that has all properties, the tighter limits, and the types and enum values that both
 * allow.
 */
export function mergeSchemas(first: SchemaObject, second: SchemaObject): SchemaObject {
  const merged: SchemaObject = { ...first };
  for (const [key, value] of Object.entries(second)) {
    const own = merged[key];
    const pick = tighter[key];
    if (own === undefined) merged[key] = value;
    else if (pick !== undefined && typeof own === "number" && typeof value === "number")
      merged[key] = pick(own, value);
    else if (key === "required") merged[key] = [...new Set([...list(own), ...list(value)])];
    else if (key === "enum") merged[key] = list(own).filter((member) => list(value).includes(member));
    else if (key === "type") merged[key] = commonTypes(own, value);
    else if (key === "allOf") merged[key] = [...list(own), ...list(value)];
    else if (key === "properties" && isSchemaObject(own) && isSchemaObject(value)) {
      const both = { ...own };
      for (const [name, inner] of Object.entries(value)) {
        const present = both[name];
        both[name] = isSchemaObject(present) && isSchemaObject(inner) ? { allOf: [present, inner] } : inner;
      }
      merged[key] = both;
    } else if (key === "items" && isSchemaObject(own) && isSchemaObject(value))
      merged[key] = { allOf: [own, value] };
    else if (key === "anyOf" || key === "oneOf") merged[key] = value;
    else if (!key.startsWith("$") && key !== "description" && key !== "title") merged[key] = value;
  }
  return merged;
}

function commonTypes(first: unknown, second: unknown): unknown {
  const types = (value: unknown) => (Array.isArray(value) ? value : [value]);
  const common = types(first).filter(
    (type) => types(second).includes(type) || (type === "integer" && types(second).includes("number")),
  );
  if (common.length === 0 && types(second).includes("integer")) return "integer";
  return common.length === 1 ? common[0] : common;
}

/**
 * Follows `$ref` and merges `allOf` and `if`/`then`, so that all keywords except `anyOf` and `oneOf` are on one level.
 * Stops after 30 steps, because references may be circular.
 */
export function resolveSchema(root: SchemaObject, schema: unknown): SchemaObject {
  let current: SchemaObject = isSchemaObject(schema) ? schema : {};
  for (let step = 0; step < 30; step += 1) {
    const { $ref, allOf, if: condition, then, else: _, ...rest } = current;
    if (typeof $ref === "string") {
      // Keywords next to a `$ref` apply too.
      current = mergeSchemas({ ...rest, ...(allOf === undefined ? {} : { allOf }) }, findRef(root, $ref));
    } else if (Array.isArray(allOf)) {
      current = rest;
      if (condition !== undefined)
        Object.assign(current, { if: condition, ...(then === undefined ? {} : { then }) });
      for (const part of allOf.slice(0, 50)) {
        if (isSchemaObject(part))
          current = mergeSchemas(
            current,
            isSchemaObject(part.if)
              ? mergeSchemas(part.if, isSchemaObject(part.then) ? part.then : {})
              : part,
          );
      }
    } else if (isSchemaObject(condition) && isSchemaObject(then)) {
      current = mergeSchemas(mergeSchemas(rest, condition), then);
    } else return rest;
  }
  const { $ref: _ref, allOf: _all, ...rest } = current;
  return rest;
}
