import {
  childrenOf,
  resolveReference,
  type SchemaLocation,
  type SchemaObject,
} from "#lib/projection/schema/walk-schema.ts";
import type { Draft } from "./find-draft.ts";

/**
 * Maximum number of schema checks for one value. Ordinary schemas need a few hundred; more are needed only if
 * references multiply.
 */
const CHECKS_MAX = 1_000_000;

type ReferenceFlaw = { pointer: string; sentence: string };

/**
 * Finds references that a validator could never finish checking: a `$ref` cycle that does not descend into the value
 * (`allOf: [{ $ref: "#" }]`), and references that multiply because many levels each refer twice to the next level.
 * Recursion through properties or items is allowed.
 */
export function findReferenceFlaw(
  root: SchemaObject,
  places: ReadonlyMap<SchemaObject, SchemaLocation>,
  draft: Draft,
): ReferenceFlaw | undefined {
  /** For each visited schema, the number of checks of one value. Undefined while the checks are being counted. */
  const checks = new Map<SchemaObject, number | undefined>();

  const visit = (place: SchemaLocation): ReferenceFlaw | undefined => {
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
    if (sum > CHECKS_MAX)
      return {
        pointer: place.pointer,
        sentence: `asks for more than ${CHECKS_MAX.toLocaleString("en-US")} checks of one value`,
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

/**
 * Lists the schemas that check the same value as the schema of `place`: its subschemas (for example in `allOf`), and
 * the target of its `$ref`. `pointer` is the JSON pointer of the subschema or of the `$ref`. If the draft ignores
 * keywords next to a `$ref`, the subschemas next to it are not listed.
 */
function listInPlace(
  root: SchemaObject,
  place: SchemaLocation,
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
