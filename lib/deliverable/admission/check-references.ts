import type { Draft } from "./find-draft.ts";
import { childrenOf, type Place, resolveReference, type SchemaObject } from "./walk-schema.ts";

/** More checks of one value than this come from references that multiply; ordinary schemas need a few hundred. */
const checksMax = 1_000_000;

type ReferenceFlaw = { pointer: string; sentence: string };

/**
 * Finds what no validator can finish: a `$ref` that comes back to itself without going into the value
 * (`allOf: [{ $ref: "#" }]`), and combinators whose references multiply (`allOf` of the same definition twice, level
 * after level). Recursion through properties or items is neither.
 */
export function findReferenceFlaw(
  root: SchemaObject,
  places: ReadonlyMap<SchemaObject, Place>,
  draft: Draft,
): ReferenceFlaw | undefined {
  /** How many schemas are checked against one value of each schema; undefined while it is being counted. */
  const checks = new Map<SchemaObject, number | undefined>();

  const visit = (place: Place): ReferenceFlaw | undefined => {
    checks.set(place.schema, undefined);
    let sum = 1;
    for (const { schema, pointer } of listInPlace(root, place, draft)) {
      const inner = places.get(schema);
      if (inner === undefined) continue;
      if (checks.has(schema) && checks.get(schema) === undefined)
        return { pointer, sentence: "refers to itself without end" };
      const flaw = checks.has(schema) ? undefined : visit(inner);
      if (flaw !== undefined) return flaw;
      sum += checks.get(schema) ?? 0;
    }
    if (sum > checksMax)
      return {
        pointer: place.pointer,
        sentence: `asks for more than ${checksMax.toLocaleString("en-US")} checks of one value`,
      };
    checks.set(place.schema, sum);
    return undefined;
  };

  for (const place of places.values()) {
    const flaw = checks.has(place.schema) ? undefined : visit(place);
    if (flaw !== undefined) return flaw;
  }
  return undefined;
}

/** The schemas that a schema applies to the same value; `pointer` is where it does so. */
function listInPlace(
  root: SchemaObject,
  place: Place,
  draft: Draft,
): { schema: SchemaObject; pointer: string }[] {
  const target = resolveReference(root, place, place.schema.$ref);
  const references = target ? [{ schema: target.schema, pointer: `${place.pointer}/$ref` }] : [];
  if (typeof place.schema.$ref === "string" && draft.ignoresRefSiblings) return references;
  const children = childrenOf(place).filter(
    ({ isInPlace, keys: [keyword = ""] }) => isInPlace && !draft.ignoredKeywords.has(keyword),
  );
  return [...children, ...references];
}
