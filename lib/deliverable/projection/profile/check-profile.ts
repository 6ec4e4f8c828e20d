import { formatPointer } from "#lib/deliverable/admission/walk-schema.ts";
import { isObject, type JsonSchema } from "../json.ts";
import { findFlaw } from "./find-flaw.ts";
import type { Profile } from "./profile.ts";
import { createTotals } from "./totals.ts";

/** A rule of a profile that a schema breaks, and where: a JSON pointer into the schema. */
export type Breach = { pointer: string; rule: string };

/** One schema in a document: where it stands, and how deep without going through `$ref`. */
export type Site = { pointer: string; schema: JsonSchema; depth: number };

/**
 * The first rule of a provider's profile that a schema breaks; undefined when it keeps to all of them. Linear in the
 * size of the schema, whatever its shape.
 */
export function checkProfile(schema: unknown, { rules }: Profile): Breach | undefined {
  if (rules === undefined) return undefined;
  if (!isObject(schema)) return { pointer: "", rule: "a schema must be an object" };
  if (schema.type !== "object") return { pointer: "", rule: 'the root must have the type "object"' };
  if (schema.anyOf !== undefined) return { pointer: "/anyOf", rule: "the root must not be an anyOf" };
  const totals = createTotals(rules);
  const open: Site[] = [{ pointer: "", schema, depth: 1 }];
  for (let site = open.pop(); site !== undefined; site = open.pop()) {
    if (site.depth > rules.depthMax)
      return { pointer: site.pointer, rule: `at most ${rules.depthMax} levels of schemas` };
    const breach = findFlaw(site, schema, rules) ?? totals.add(site);
    if (breach) return breach;
    const inner = listInner(site);
    if (!Array.isArray(inner)) return inner;
    open.push(...inner.toReversed());
  }
  return undefined;
}

/** The schemas in a schema's keywords. */
function listInner({ pointer, schema, depth }: Site): Site[] | Breach {
  const inner: Site[] = [];
  const at = (path: string[], value: unknown, levels = 1): Breach | undefined => {
    const place = pointer + formatPointer(path);
    if (!isObject(value)) return { pointer: place, rule: "a schema must be an object" };
    inner.push({ pointer: place, schema: value, depth: depth + levels });
    return undefined;
  };
  const breaches = [
    ...entriesOf(schema.properties).map(([name, value]) => at(["properties", name], value)),
    ...(schema.items === undefined ? [] : [at(["items"], schema.items)]),
    ...(Array.isArray(schema.anyOf) ? schema.anyOf : []).map((value, index) =>
      at(["anyOf", String(index)], value),
    ),
    ...entriesOf(schema.$defs).map(([name, value]) => at(["$defs", name], value)),
  ];
  return breaches.find((breach) => breach !== undefined) ?? inner;
}

const entriesOf = (value: unknown): [string, unknown][] => (isObject(value) ? Object.entries(value) : []);
