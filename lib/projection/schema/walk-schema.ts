/** A schema that is an object. The other kind of schema is a boolean. */
export type SchemaObject = Record<string, unknown>;

/**
 * A subschema with its JSON pointer. `resource` is the nearest enclosing schema with an `$id`; undefined means the
 * root. References such as `#/…` are relative to the subschema if it has an `$id` itself, otherwise to `resource`.
 */
export type SchemaLocation = { pointer: string; schema: SchemaObject; resource: SchemaLocation | undefined };

/**
 * A subschema, with the keys that lead from its parent to it. `isInPlace`: whether it applies to the same value as the
 * parent.
 */
type Child = { pointer: string; keys: readonly string[]; schema: SchemaObject; isInPlace: boolean };

const IN_PLACE_KEYWORDS = new Set(
  "allOf anyOf oneOf not if then else dependentSchemas dependencies".split(" "),
);
const schemaKeywords =
  "items additionalItems unevaluatedItems contains additionalProperties unevaluatedProperties propertyNames not if then else contentSchema".split(
    " ",
  );
const listKeywords = "allOf anyOf oneOf prefixItems items".split(" ");
const mapKeywords = "properties patternProperties $defs definitions dependentSchemas dependencies".split(" ");

/**
 * Collects the root and all subschemas that are objects: the subschemas in the keywords of any draft, and the targets
 * of local references. Data in `enum`, `const`, `default` or `examples` is not a schema.
 */
export function collectPlaces(root: SchemaObject): Map<SchemaObject, SchemaLocation> {
  const places = new Map<SchemaObject, SchemaLocation>();
  const open: SchemaLocation[] = [{ pointer: "", schema: root, resource: undefined }];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    if (places.has(place.schema)) continue;
    places.set(place.schema, place);
    const resource = ownsId(place.schema) ? place : place.resource;
    for (const child of childrenOf(place)) open.push({ ...child, resource });
    const target = resolveReference(root, place, place.schema.$ref);
    if (target) open.push({ ...target, resource });
  }
  return places;
}

/** Lists the subschemas in a schema's own keywords. */
export function childrenOf({ pointer, schema }: Pick<SchemaLocation, "pointer" | "schema">): Child[] {
  const children: Child[] = [];
  const add = (value: unknown, ...path: string[]) => {
    if (!isSchemaObject(value)) return;
    const isInPlace = IN_PLACE_KEYWORDS.has(path[0] ?? "");
    children.push({ pointer: pointer + formatPointer(path), keys: path, schema: value, isInPlace });
  };
  for (const keyword of schemaKeywords) add(own(schema, keyword), keyword);
  for (const keyword of listKeywords) {
    const list = own(schema, keyword);
    if (Array.isArray(list)) for (const [index, item] of list.entries()) add(item, keyword, String(index));
  }
  for (const keyword of mapKeywords) {
    const map = own(schema, keyword);
    if (isSchemaObject(map)) for (const [name, item] of Object.entries(map)) add(item, keyword, name);
  }
  return children;
}

/**
 * Returns the schema object that a local reference (`#` or `#/…`) points to. Undefined for any other reference, and if
 * the reference points to nothing or to a boolean schema.
 */
export function resolveReference(
  root: SchemaObject,
  from: SchemaLocation,
  reference: unknown,
): Pick<SchemaLocation, "pointer" | "schema"> | undefined {
  if (typeof reference !== "string" || !/^#(\/|$)/.test(reference)) return undefined;
  const resource = ownsId(from.schema) ? from : (from.resource ?? { pointer: "", schema: root });
  let found: unknown = resource.schema;
  let tokens: string[];
  try {
    tokens = decodeURIComponent(reference).split("/").slice(1);
  } catch {
    return undefined;
  }
  const path = tokens.map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
  for (const key of path)
    found =
      typeof found === "object" && found !== null && Object.hasOwn(found, key)
        ? Reflect.get(found, key)
        : undefined;
  return isSchemaObject(found)
    ? { pointer: resource.pointer + formatPointer(path), schema: found }
    : undefined;
}

/** Formats a path as a JSON pointer: `["properties", "a/b"]` becomes `/properties/a~1b`. */
export function formatPointer(path: readonly string[]): string {
  let pointer = "";
  for (const key of path)
    pointer += /[~/]/.test(key) ? `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}` : `/${key}`;
  return pointer;
}

const own = (schema: SchemaObject, keyword: string): unknown =>
  Object.hasOwn(schema, keyword) ? schema[keyword] : undefined;

const ownsId = (schema: SchemaObject): boolean =>
  typeof schema.$id === "string" && !schema.$id.startsWith("#");

const isSchemaObject = (value: unknown): value is SchemaObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
