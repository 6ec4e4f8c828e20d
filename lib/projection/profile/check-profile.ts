import { isObject, type JsonSchema } from "../json.ts";
import { formatPointer } from "../schema/walk-schema.ts";
import { type Flaw, findFlaw, type Site } from "./find-flaw.ts";
import type { Profile, ProfileRules } from "./profile.ts";
import { createTotals } from "./totals.ts";

/** A violated rule of a profile, and a JSON pointer to the place of the violation in the schema. */
export type Breach = { pointer: string; rule: string };

/**
 * Finds the first rule of a provider's profile that a schema violates; undefined when it violates none. The time is
 * linear in the size of the schema.
 */
export function checkProfile(schema: unknown, { rules }: Profile): Breach | undefined {
  if (rules === undefined) return undefined;
  if (!isObject(schema)) return { pointer: "", rule: "a schema must be an object" };
  if (schema.type !== "object") return { pointer: "", rule: 'the root must have the type "object"' };
  if (schema.anyOf !== undefined) return { pointer: "/anyOf", rule: "the root must not be an anyOf" };
  if (!rules.allowsRecursion && isRecursive(schema))
    return { pointer: "", rule: "a schema must not refer to itself" };
  const totals = createTotals(rules);
  const open: Site[] = [{ schema, depth: 1, outer: undefined, keys: [] }];
  for (let site = open.pop(); site !== undefined; site = open.pop()) {
    const flaw = findDepthFlaw(site, rules) ?? findFlaw(site, schema, rules) ?? totals.add(site);
    if (flaw)
      return { pointer: pointerOf(site) + (flaw.under ? formatPointer([flaw.under]) : ""), rule: flaw.rule };
    for (const [keys, inner] of listInner(site.schema).toReversed()) {
      const next = { depth: site.depth + 1, outer: site, keys };
      if (!isObject(inner))
        return { pointer: pointerOf({ ...next, schema: {} }), rule: "a schema must be an object" };
      open.push({ ...next, schema: inner });
    }
  }
  return undefined;
}

const findDepthFlaw = ({ depth }: Site, { depthMax }: ProfileRules): Flaw | undefined =>
  depth > depthMax ? { rule: `at most ${depthMax} levels of schemas` } : undefined;

function pointerOf(site: Site): string {
  const path: string[] = [];
  for (let at: Site | undefined = site; at !== undefined; at = at.outer) path.unshift(...at.keys);
  return formatPointer(path);
}

/** Lists the schemas in a schema's keywords, each with the keys that lead to it. */
function listInner(schema: JsonSchema): [keys: readonly string[], inner: unknown][] {
  const inner: [readonly string[], unknown][] = [];
  const addMap = (keyword: string) => {
    const map = schema[keyword];
    if (isObject(map)) for (const name of Object.keys(map)) inner.push([[keyword, name], map[name]]);
  };
  addMap("properties");
  if (schema.items !== undefined) inner.push([["items"], schema.items]);
  if (Array.isArray(schema.anyOf))
    for (const [index, branch] of schema.anyOf.entries()) inner.push([["anyOf", String(index)], branch]);
  addMap("$defs");
  return inner;
}

/** Whether a `$ref` leads back to a definition that contains it. */
function isRecursive(root: JsonSchema): boolean {
  const definitions = isObject(root.$defs) ? root.$defs : {};
  const targets = new Map<string, Set<string>>();
  for (const [name, part] of [["#", { ...root, $defs: {} }] as const, ...Object.entries(definitions)])
    targets.set(name === "#" ? name : `#/$defs/${name}`, listReferences(part));
  const states = new Map<string, "open" | "done">();
  const path = ["#", ...targets.keys()].reverse();
  for (let name = path.at(-1); name !== undefined; name = path.at(-1)) {
    const rest = targets.get(name);
    const [next] = rest ?? [];
    if (states.get(name) === "done" || next === undefined) {
      states.set(name, "done");
      path.pop();
      continue;
    }
    states.set(name, "open");
    rest?.delete(next);
    if (states.get(next) === "open") return true;
    path.push(next);
  }
  return false;
}

function listReferences(part: unknown): Set<string> {
  const found = new Set<string>();
  const open: unknown[] = [part];
  while (open.length > 0) {
    const each = open.pop();
    if (!isObject(each)) continue;
    if (typeof each.$ref === "string") found.add(each.$ref);
    for (const [, inner] of listInner(each)) open.push(inner);
  }
  return found;
}
