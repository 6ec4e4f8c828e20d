import { isObject, type JsonSchema, ownValue } from "../json.ts";
import type { ProfileRules } from "./profile.ts";

/**
 * A schema in a document. `outer` is the schema around it, and `keys` is the path from `outer` to it. `depth` is the
 * nesting level; `$ref` is not followed.
 */
export type Site = { schema: JsonSchema; depth: number; outer: Site | undefined; keys: readonly string[] };

/**
 * A rule that a schema violates. `under` is the keyword that causes the violation; omitted if the whole schema does.
 */
export type Flaw = { rule: string; under?: string };

/** Checks one schema without its subschemas: its keywords, types, properties, reference and branches. */
export function findFlaw(site: Site, root: JsonSchema, rules: ProfileRules): Flaw | undefined {
  const { schema, outer } = site;
  for (const keyword in schema) {
    if (!rules.keywords.has(keyword)) return { under: keyword, rule: `${keyword} is not supported` };
    if (keyword === "$defs" && outer !== undefined)
      return { under: "$defs", rule: "$defs must be at the root" };
  }
  return (
    findReferenceFlaw(site, root, rules) ??
    findTypeFlaw(site, rules) ??
    findBoundFlaw(site, rules) ??
    (isObjectSchema(schema) ? findObjectFlaw(site, rules) : undefined) ??
    (schema.anyOf === undefined ? undefined : findBranchFlaw(site, root, rules))
  );
}

function findReferenceFlaw({ schema }: Site, root: JsonSchema, rules: ProfileRules): Flaw | undefined {
  if (schema.$ref === undefined) return undefined;
  const sibling = Object.keys(schema).find((keyword) => keyword !== "$ref" && !rules.besideRef.has(keyword));
  if (sibling !== undefined) return { under: sibling, rule: `${sibling} must not accompany $ref` };
  return resolve(root, schema) === undefined
    ? { under: "$ref", rule: "$ref must mean the root or one of its $defs" }
    : undefined;
}

function findTypeFlaw({ schema }: Site, { types, hasNullableParts }: ProfileRules): Flaw | undefined {
  const { type } = schema;
  if (type === undefined) {
    if (schema.$ref !== undefined || schema.anyOf !== undefined) return undefined;
    return { rule: "every schema must have a type, an anyOf or a $ref" };
  }
  const names: unknown[] = Array.isArray(type) ? type : [type];
  if (names.length === 0 || !names.every((name) => typeof name === "string" && types.has(name)))
    return { under: "type", rule: "the type is not supported" };
  if (!hasNullableParts && names.length > 1 && names.some((name) => name === "object" || name === "array"))
    return { under: "type", rule: "a list or an object must not have a second type" };
  if (names.includes("array") && schema.items === undefined) return { rule: "an array must have items" };
  return undefined;
}

function findBoundFlaw({ schema }: Site, { bounds }: ProfileRules): Flaw | undefined {
  const { format, minItems } = schema;
  if (format !== undefined && !bounds.formats.has(String(format)))
    return { under: "format", rule: "the format is not supported" };
  if (minItems !== undefined && !bounds.minItems(Number(minItems)))
    return { under: "minItems", rule: `minItems must not be ${minItems}` };
  return undefined;
}

function findObjectFlaw({ schema }: Site, rules: ProfileRules): Flaw | undefined {
  if (schema.additionalProperties !== false)
    return { rule: "an object must have additionalProperties: false" };
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  for (const name of Object.keys(properties)) {
    if (!required.delete(name) && rules.requiresAll)
      return { rule: `the property ${JSON.stringify(name)} must be required` };
    if (!rules.propertyName.test(name)) return { rule: `the name ${JSON.stringify(name)} is not supported` };
  }
  return required.size > 0 ? { under: "required", rule: "only properties may be required" } : undefined;
}

/** Checks that an `anyOf` has branches, and that the branches that are objects have different first keys. */
function findBranchFlaw(
  { schema }: Site,
  root: JsonSchema,
  { hasDistinctBranches }: ProfileRules,
): Flaw | undefined {
  if (!Array.isArray(schema.anyOf) || schema.anyOf.length === 0)
    return { under: "anyOf", rule: "an anyOf must have branches" };
  if (!hasDistinctBranches) return undefined;
  const firsts = new Set<string>();
  const seen = new Set<unknown>();
  const open: unknown[] = [...schema.anyOf];
  for (let branch = open.pop(); branch !== undefined; branch = open.pop()) {
    const target = resolve(root, branch);
    if (target === undefined || seen.has(target)) continue;
    seen.add(target);
    if (Array.isArray(target.anyOf)) open.push(...target.anyOf);
    if (!isObjectSchema(target)) continue;
    const [first] = Object.keys(isObject(target.properties) ? target.properties : {});
    if (first === undefined) continue;
    if (firsts.has(first)) return { under: "anyOf", rule: `two objects begin with the key "${first}"` };
    firsts.add(first);
  }
  return undefined;
}

const isObjectSchema = ({ type, properties }: JsonSchema): boolean =>
  type === "object" || (Array.isArray(type) && type.includes("object")) || properties !== undefined;

/**
 * Returns the target of the schema's `$ref`, or the schema itself if it has no `$ref`. Undefined if the target does not
 * exist, or if `schema` is not an object.
 */
function resolve(root: JsonSchema, schema: unknown): JsonSchema | undefined {
  if (!isObject(schema) || schema.$ref === undefined) return isObject(schema) ? schema : undefined;
  if (schema.$ref === "#") return root;
  const name = /^#\/\$defs\/([^/]+)$/.exec(String(schema.$ref))?.[1];
  const definition = name !== undefined && isObject(root.$defs) ? ownValue(root.$defs, name) : undefined;
  if (!isObject(definition)) return undefined;
  return definition;
}
