import type { SchemaLocation, SchemaObject } from "#lib/projection/schema/walk-schema.ts";
import type { Draft } from "./find-draft.ts";

type Places = Map<SchemaObject, SchemaLocation>;

/**
 * Rewrites references that ajv resolves differently from the drafts to equivalent ones that it resolves correctly:
 *
 * - An id next to a `$ref` is removed in drafts that ignore it; ajv takes it as the base of the reference. In later drafts
 *   the `$ref` moves into an `allOf`; ajv would follow it without end.
 * - A dynamic or recursive reference that can have only one target becomes a `$ref`.
 *
 * See decision 142, and sections 8.2.3.2 of JSON Schema Core 2020-12 and 8.2.4.2 of 2019-09.
 */
export function normalizeReferences(draft: Draft, root: SchemaObject, places: Places): void {
  for (const place of [...places.values()]) {
    const { schema } = place;
    if (draft.ignoresRefSiblings) {
      if (typeof schema.$ref === "string" && schema !== root)
        for (const keyword of ["$id", "id"]) delete schema[keyword];
      continue;
    }
    for (const keyword of ["$recursiveRef", "$dynamicRef"])
      if (!draft.ignoredKeywords.has(keyword) && isStatic(keyword, place, root, places))
        moveReference(place, keyword, places);
    if (typeof schema.$ref === "string" && typeof schema.$id === "string")
      moveReference(place, "$ref", places);
  }
}

/** Moves a reference into a branch of `allOf`, as a `$ref`. An error about the branch names the place of the reference. */
function moveReference(place: SchemaLocation, keyword: string, places: Places): void {
  const { schema } = place;
  const branch: SchemaObject = { $ref: schema[keyword] };
  delete schema[keyword];
  schema.allOf = [...(Array.isArray(schema.allOf) ? schema.allOf : []), branch];
  const resource = ownsId(schema) ? place : place.resource;
  places.set(branch, { pointer: place.pointer, schema: branch, resource });
}

const ownsId = ({ $id }: SchemaObject): boolean => typeof $id === "string" && !$id.startsWith("#");

/** Whether a dynamic or recursive reference can have only one target, because its resource has no anchor for it. */
function isStatic(keyword: string, place: SchemaLocation, root: SchemaObject, places: Places): boolean {
  const reference = place.schema[keyword];
  if (typeof reference !== "string" || !reference.startsWith("#")) return false;
  const resourceOf = ({ schema, resource }: SchemaLocation) =>
    ownsId(schema) ? schema : (resource?.schema ?? root);
  const resource = resourceOf(place);
  if (keyword === "$recursiveRef") return resource.$recursiveAnchor !== true;
  const anchors = [...places.values()].filter(({ schema }) => schema.$dynamicAnchor === reference.slice(1));
  return !anchors.some((each) => resourceOf(each) === resource);
}
