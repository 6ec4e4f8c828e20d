import { isObject } from "../json.ts";
import type { Dialect } from "./dialect.ts";
import { nameInside, rootName, type SchemaName } from "./schema-name.ts";
import { childrenOf, formatPointer, type SchemaObject } from "./walk-schema.ts";

/** A schema: an object, or a boolean that accepts everything or nothing. */
export type Schema = SchemaObject | boolean;

export const isSchema = (value: unknown): value is Schema => typeof value === "boolean" || isObject(value);

/**
 * Answers questions about the schemas in one document: their position, their name, and the targets of their references.
 */
export type SchemaIndex = {
  dialect: Dialect;
  /**
   * The JSON pointer of a schema in the document. Undefined for any other object, such as data in the document or a
   * schema that `anyOf` created.
   */
  pointerOf: (schema: SchemaObject) => string | undefined;
  /**
   * Returns the name of a schema: its own definition or property name, or a name derived from the nearest named schema
   * around it. Returns "part" for undefined, and for an object that is not a schema of the document.
   */
  nameOf: (schema: SchemaObject | undefined) => string;
  /** The name of a schema that is a definition; undefined for other schemas. */
  definitionName: (schema: SchemaObject) => string | undefined;
  /**
   * Returns the targets of a schema's `$ref`, `$dynamicRef` and `$recursiveRef`, with undefined for each reference that
   * cannot be resolved.
   */
  targetsOf: (schema: SchemaObject) => (Schema | undefined)[];
  /** Returns the number of a schema, which stays the same for the lifetime of the index. */
  idOf: (schema: SchemaObject) => number;
  /** Returns a schema that accepts what any of the schemas accepts. The same list always gives the same object. */
  anyOf: (schemas: readonly Schema[]) => Schema;
};

type Placed = { pointer: string; resource: Resource; name: SchemaName };

/**
 * A resource of JSON Schema: the root, or a schema with an `$id`. A reference that starts with `#` points into the
 * resource around it.
 */
type Resource = {
  schema: SchemaObject;
  pointer: string;
  url: URL | undefined;
  anchors: Map<string, SchemaObject>;
};

const DOCUMENT_URL = "schema://document/";

/** The state of an index. */
type Document = {
  root: SchemaObject;
  dialect: Dialect;
  places: Map<SchemaObject, Placed>;
  /** Resources with an `$id`, by their URL without the fragment. */
  resources: Map<string, Resource>;
  rootResource: Resource;
  /**
   * The number of `$id`s and dynamic anchors below the root. If it is not 0, dynamic references may have several
   * targets.
   */
  innerScopes: number;
};

/** Indexes a schema. The time is linear in the size of the schema. */
export function createSchemaIndex(root: SchemaObject, dialect: Dialect): SchemaIndex {
  const url = parseUrl("", DOCUMENT_URL);
  const rootResource: Resource = { schema: root, pointer: "", url, anchors: new Map() };
  const document: Document = {
    root,
    dialect,
    rootResource,
    innerScopes: 0,
    places: new Map(),
    resources: new Map(),
  };
  readPlaces(document, { schema: root, pointer: "", resource: rootResource, name: rootName });
  const { places } = document;
  return {
    dialect,
    pointerOf: (schema) => places.get(schema)?.pointer,
    nameOf: (schema) => (schema && places.get(schema)?.name.text) ?? "part",
    definitionName(schema) {
      const name = places.get(schema)?.name;
      return name?.isDefinition ? name.text : undefined;
    },
    targetsOf: (schema) => findTargets(document, schema),
    ...createIdentities(),
  };
}

/** Numbers schemas, and combines several schemas into one `anyOf`. The same schemas always give the same object. */
function createIdentities(): Pick<SchemaIndex, "idOf" | "anyOf"> {
  const ids = new Map<SchemaObject, number>();
  const combined = new Map<string, SchemaObject>();
  const idOf = (schema: SchemaObject): number => {
    const id = ids.get(schema) ?? ids.size;
    ids.set(schema, id);
    return id;
  };
  return {
    idOf,
    anyOf(schemas) {
      const branches = schemas.filter((schema) => schema !== false);
      if (branches.includes(true)) return true;
      const [first] = branches;
      if (first === undefined) return false;
      if (branches.length === 1) return first;
      const key = branches.map((schema) => (schema === true ? "" : idOf(schema))).join();
      const schema = combined.get(key) ?? { anyOf: branches };
      combined.set(key, schema);
      return schema;
    },
  };
}

type Place = { schema: SchemaObject; pointer: string; resource: Resource; name: SchemaName };

/** Records a schema and all schemas below it. */
function readPlaces(document: Document, start: Place): void {
  const { places } = document;
  const open = [start];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    if (places.has(place.schema)) continue;
    const resource = readIdentity(document, place);
    places.set(place.schema, { pointer: place.pointer, resource, name: place.name });
    for (const child of childrenOf(place))
      open.push({ ...child, resource, name: nameInside(place.name, child.keys) });
  }
}

/** Records a schema's `$id` and anchors. @returns the resource that references inside the schema are relative to. */
function readIdentity(document: Document, { schema, pointer, resource: outer }: Place): Resource {
  // Keywords next to a `$ref` are ignored in older drafts, ids included.
  const isAlias = typeof schema.$ref === "string" && document.dialect.ignoresRefSiblings && pointer !== "";
  const id = isAlias ? undefined : schema[document.dialect.idKeyword];
  let resource = outer;
  if (typeof id === "string" && id.startsWith("#")) outer.anchors.set(id.slice(1), schema);
  else if (typeof id === "string") {
    if (pointer !== "") document.innerScopes += 1;
    resource = { schema, pointer, url: parseUrl(id, outer.url?.href ?? DOCUMENT_URL), anchors: new Map() };
    if (resource.url) document.resources.set(withoutHash(resource.url), resource);
  }
  for (const keyword of ["$anchor", "$dynamicAnchor"]) {
    const anchor = schema[keyword];
    if (typeof anchor !== "string") continue;
    resource.anchors.set(anchor, schema);
    if (keyword === "$dynamicAnchor" && pointer !== "") document.innerScopes += 1;
  }
  return resource;
}

function findTargets(document: Document, schema: SchemaObject): (Schema | undefined)[] {
  const { dialect, places, rootResource } = document;
  const targets: (Schema | undefined)[] = [];
  const resource = places.get(schema)?.resource ?? rootResource;
  if (typeof schema.$ref === "string") targets.push(resolve(document, schema.$ref, resource));
  if (!dialect.hasUnevaluated) return targets;
  for (const keyword of ["$dynamicRef", "$recursiveRef"])
    if (schema[keyword] !== undefined && !dialect.ignoredKeywords.has(keyword))
      targets.push(resolveDynamic(document, schema[keyword]));
  return targets;
}

function resolve(document: Document, reference: string, from: Resource): Schema | undefined {
  const hash = reference.indexOf("#");
  const fragment = hash === -1 ? "" : reference.slice(hash + 1);
  let resource: Resource | undefined = from;
  if (hash !== 0) {
    const url = parseUrl(reference, from.url?.href ?? DOCUMENT_URL);
    resource = url && document.resources.get(withoutHash(url));
  }
  if (resource === undefined) return undefined;
  if (fragment === "") return resource.schema;
  return fragment.startsWith("/")
    ? followPointer(document, resource, fragment)
    : resource.anchors.get(fragment);
}

/** Follows a JSON pointer. If it points to a schema under an unknown keyword, that schema is added to the index. */
function followPointer(document: Document, resource: Resource, fragment: string): Schema | undefined {
  const path = decodeFragment(fragment);
  let found: unknown = path && resource.schema;
  for (const key of path ?? [])
    found =
      typeof found === "object" && found !== null && Object.hasOwn(found, key)
        ? Reflect.get(found, key)
        : undefined;
  if (!isSchema(found)) return undefined;
  if (isObject(found) && path && !document.places.has(found)) {
    const pointer = resource.pointer + formatPointer(path);
    readPlaces(document, {
      schema: found,
      pointer,
      resource,
      name: nameInside(rootName, path.slice(-2)),
    });
  }
  return found;
}

/** Resolves a dynamic reference to the root, if only the root can be its target; otherwise returns undefined. */
function resolveDynamic({ root, innerScopes }: Document, reference: unknown): Schema | undefined {
  if (typeof reference !== "string" || innerScopes > 0) return undefined;
  const isRoot = reference === "#" ? root.$recursiveAnchor === true : reference === `#${root.$dynamicAnchor}`;
  return isRoot ? root : undefined;
}

function parseUrl(reference: string, base: string): URL | undefined {
  return URL.parse(reference, base) ?? undefined;
}

const withoutHash = (url: URL): string => url.href.split("#", 1)[0] ?? "";

function decodeFragment(fragment: string): string[] | undefined {
  try {
    const keys = decodeURIComponent(fragment).split("/").slice(1);
    return keys.map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
  } catch {
    return undefined;
  }
}
