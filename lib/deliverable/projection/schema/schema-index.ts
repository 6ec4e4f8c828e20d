import { childrenOf, formatPointer, type SchemaObject } from "#lib/deliverable/admission/walk-schema.ts";
import { isObject } from "../json.ts";
import type { Dialect } from "./dialect.ts";
import { nameInside, type PlaceName, rootName } from "./place-name.ts";

/** A schema: an object, or the boolean that takes everything or nothing. */
export type Schema = SchemaObject | boolean;

export const isSchema = (value: unknown): value is Schema => typeof value === "boolean" || isObject(value);

/** A schema document by its places: where each stands, and what its references mean. */
export type SchemaIndex = {
  dialect: Dialect;
  /** A JSON pointer; undefined for schemas that were made here. */
  pointerOf: (schema: SchemaObject) => string | undefined;
  /** What the place is called in the document: its definition, its property, or what is nearest above. */
  nameOf: (schema: SchemaObject | undefined) => string;
  /** The name of a definition; undefined for other places. */
  definitionName: (schema: SchemaObject) => string | undefined;
  /** What `$ref`, `$dynamicRef` and `$recursiveRef` of a schema mean; undefined stands for one that nobody can tell. */
  targetsOf: (schema: SchemaObject) => (Schema | undefined)[];
  /** A number for each schema, the same as long as the index lives. */
  idOf: (schema: SchemaObject) => number;
  /** The schema that asks for one of several; the same for the same ones. */
  anyOf: (schemas: readonly Schema[]) => Schema;
};

type Placed = { pointer: string; resource: Resource; name: PlaceName };

/** The nearest `$id`: what `#…` references below it mean. */
type Resource = {
  schema: SchemaObject;
  pointer: string;
  url: URL | undefined;
  anchors: Map<string, SchemaObject>;
};

const documentUrl = "schema://document/";

/** Reads a schema once; linear in its size. */
export function createSchemaIndex(root: SchemaObject, dialect: Dialect): SchemaIndex {
  const places = new Map<SchemaObject, Placed>();
  const resources = new Map<string, Resource>();
  const document: Resource = {
    schema: root,
    pointer: "",
    url: parseUrl("", documentUrl),
    anchors: new Map(),
  };
  const ids = new Map<SchemaObject, number>();
  const made = new Map<string, SchemaObject>();
  let innerScopes = 0;

  function readPlaces(start: SchemaObject, pointer: string, resource: Resource, name: PlaceName): void {
    const open = [{ schema: start, pointer, resource, name }];
    for (let place = open.pop(); place !== undefined; place = open.pop()) {
      if (places.has(place.schema)) continue;
      const own = readIdentity(place.schema, place.pointer, place.resource);
      places.set(place.schema, { pointer: place.pointer, resource: own, name: place.name });
      for (const child of childrenOf(place))
        open.push({ ...child, resource: own, name: nameInside(place.name, child.keys) });
    }
  }

  function readIdentity(schema: SchemaObject, pointer: string, outer: Resource): Resource {
    const id = schema[dialect.idKeyword];
    let resource = outer;
    if (typeof id === "string" && id.startsWith("#")) outer.anchors.set(id.slice(1), schema);
    else if (typeof id === "string") {
      if (pointer !== "") innerScopes += 1;
      resource = { schema, pointer, url: parseUrl(id, outer.url?.href ?? documentUrl), anchors: new Map() };
      if (resource.url) resources.set(withoutHash(resource.url), resource);
    }
    for (const keyword of ["$anchor", "$dynamicAnchor"]) {
      const anchor = schema[keyword];
      if (typeof anchor !== "string") continue;
      resource.anchors.set(anchor, schema);
      if (keyword === "$dynamicAnchor" && pointer !== "") innerScopes += 1;
    }
    return resource;
  }

  function resolve(reference: string, from: Resource): Schema | undefined {
    const hash = reference.indexOf("#");
    const fragment = hash === -1 ? "" : reference.slice(hash + 1);
    let resource: Resource | undefined = from;
    if (hash !== 0) {
      const url = parseUrl(reference, from.url?.href ?? documentUrl);
      resource = url && resources.get(withoutHash(url));
    }
    if (resource === undefined) return undefined;
    if (fragment === "") return resource.schema;
    return fragment.startsWith("/") ? follow(resource, fragment) : resource.anchors.get(fragment);
  }

  function follow(resource: Resource, fragment: string): Schema | undefined {
    const path = decodeFragment(fragment);
    let found: unknown = path && resource.schema;
    for (const key of path ?? [])
      found =
        typeof found === "object" && found !== null && Object.hasOwn(found, key)
          ? Reflect.get(found, key)
          : undefined;
    if (!isSchema(found)) return undefined;
    if (isObject(found) && path && !places.has(found))
      readPlaces(
        found,
        resource.pointer + formatPointer(path),
        resource,
        nameInside(rootName, path.slice(-2)),
      );
    return found;
  }

  /** A dynamic reference has one meaning where only the document's root has such an anchor. */
  function resolveDynamic(reference: unknown): Schema | undefined {
    if (typeof reference !== "string" || innerScopes > 0) return undefined;
    const isRoot =
      reference === "#" ? root.$recursiveAnchor === true : reference === `#${root.$dynamicAnchor}`;
    return isRoot ? root : undefined;
  }

  readPlaces(root, "", document, rootName);
  const idOf = (schema: SchemaObject): number => {
    const id = ids.get(schema) ?? ids.size;
    ids.set(schema, id);
    return id;
  };

  return {
    dialect,
    pointerOf: (schema) => places.get(schema)?.pointer,
    nameOf: (schema) => (schema && places.get(schema)?.name.text) ?? "part",
    definitionName(schema) {
      const name = places.get(schema)?.name;
      return name?.isDefinition ? name.text : undefined;
    },
    targetsOf(schema) {
      const targets: (Schema | undefined)[] = [];
      const resource = places.get(schema)?.resource ?? document;
      if (typeof schema.$ref === "string") targets.push(resolve(schema.$ref, resource));
      if (!dialect.hasUnevaluated) return targets;
      for (const keyword of ["$dynamicRef", "$recursiveRef"])
        if (schema[keyword] !== undefined && !dialect.ignoredKeywords.has(keyword))
          targets.push(resolveDynamic(schema[keyword]));
      return targets;
    },
    idOf,
    anyOf(schemas) {
      const objects = schemas.filter((schema) => schema !== false);
      if (objects.includes(true)) return true;
      const [first] = objects;
      if (first === undefined) return false;
      if (objects.length === 1) return first;
      const key = objects.map((schema) => (schema === true ? "" : idOf(schema))).join();
      const known = made.get(key) ?? { anyOf: objects };
      made.set(key, known);
      return known;
    },
  };
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
