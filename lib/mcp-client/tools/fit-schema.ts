import { beginningOf } from "#lib/text/whole-characters.ts";

type Json = Record<string, unknown>;

const TYPES = new Set(["string", "number", "integer", "boolean", "object", "array", "null"]);
const DEPTH_MAX = 16;
const NODES_MAX = 2_000;
const TEXT_MAX = 1_000;

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === "string";
const isNumber = (value: unknown) => typeof value === "number" && Number.isFinite(value);
const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;
const isFlag = (value: unknown) => typeof value === "boolean";

/** Whether a pattern is a valid regular expression. It is parsed but never run, so a hostile pattern costs no time. */
function isPattern(value: unknown): boolean {
  if (!isText(value) || value.length > TEXT_MAX) return false;
  try {
    return new RegExp(value, "u") instanceof RegExp;
  } catch {
    return false;
  }
}

/** Whether a value (of `enum`, `const` or `default`) is nested at most six levels deep. */
const isShallow = (value: unknown, remaining = 6): boolean =>
  typeof value !== "object" || value === null
    ? true
    : remaining > 0 && Object.values(value).every((each) => isShallow(each, remaining - 1));

/** Keywords that are copied unchanged if their value has the right type. */
const KEPT = new Map<string, (value: unknown) => boolean>(
  Object.entries({
    minimum: isNumber,
    maximum: isNumber,
    exclusiveMinimum: isNumber,
    exclusiveMaximum: isNumber,
    multipleOf: (value: unknown) => isNumber(value) && Number(value) > 0,
    minLength: isCount,
    maxLength: isCount,
    minItems: isCount,
    maxItems: isCount,
    minProperties: isCount,
    maxProperties: isCount,
    uniqueItems: isFlag,
    nullable: isFlag,
    pattern: isPattern,
    format: (value: unknown) => isText(value) && value.length < 100,
    enum: (value: unknown) => Array.isArray(value) && value.length > 0 && isShallow(value),
    const: (value: unknown) => isShallow(value),
    default: (value: unknown) => isShallow(value),
  }),
);

/**
 * Copies a tool's input schema in a form that every provider accepts. The root is an object without alternatives, only
 * known keywords with values of the right type are kept, and references point to a schema inside the document. The
 * server itself still checks the constraints that are dropped here. The schema is never compiled.
 *
 * @returns undefined if the input is not an object schema.
 */
export function fitSchema(input: unknown): Json | undefined {
  if (!isObject(input)) return undefined;
  const type = input.type ?? "object";
  if (type !== "object" && !(Array.isArray(type) && type.includes("object"))) return undefined;
  const state = { remaining: NODES_MAX };
  const copy = fit(input, 0, state);
  const root: Json = {
    ...copy,
    type: "object",
    properties: isObject(copy.properties) ? copy.properties : {},
  };
  for (const keyword of ["allOf", "anyOf", "oneOf"]) {
    for (const branch of asSchemas(root[keyword])) liftBranch(root, branch, keyword === "allOf");
    delete root[keyword];
  }
  for (const keyword of ["$ref", "enum", "const", "not", "default", "nullable"]) delete root[keyword];
  checkReferences(root, root, new Map());
  return root;
}

/**
 * Copies the properties of a branch of the root's `allOf`, `anyOf` or `oneOf` into the root itself, because providers
 * refuse these keywords at the root. With `isBinding`, which is for `allOf`, the fields that the branch requires become
 * required too.
 */
function liftBranch(root: Json, branch: Json, isBinding: boolean): void {
  if (isObject(branch.properties) && isObject(root.properties))
    root.properties = { ...branch.properties, ...root.properties };
  if (isBinding && Array.isArray(branch.required))
    root.required = [...new Set([...asTexts(root.required), ...asTexts(branch.required)])];
}

const asTexts = (value: unknown): string[] => (Array.isArray(value) ? value.filter(isText) : []);
const asSchemas = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : []);

function fit(schema: unknown, depth: number, state: { remaining: number }): Json {
  if (!isObject(schema) || depth > DEPTH_MAX || --state.remaining < 0) return {};
  const inside = (value: unknown) => fit(value, depth + 1, state);
  const map = (value: Json) =>
    Object.fromEntries(Object.entries(value).map(([name, each]) => [name, inside(each)]));
  const result: Json = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (KEPT.get(keyword)?.(value)) result[keyword] = value;
    else if ((keyword === "title" || keyword === "description") && isText(value))
      result[keyword] = beginningOf(value, TEXT_MAX).toWellFormed();
    else if (keyword === "type") Object.assign(result, fitType(value));
    else if (["properties", "$defs", "definitions"].includes(keyword) && isObject(value))
      result[keyword] = map(value);
    else if (keyword === "required" && Array.isArray(value)) result.required = [...new Set(asTexts(value))];
    else if (keyword === "items" || keyword === "not") result[keyword] = inside(value);
    else if (keyword === "additionalProperties")
      result[keyword] = typeof value === "boolean" ? value : inside(value);
    else if (["anyOf", "oneOf", "allOf"].includes(keyword) && Array.isArray(value) && value.length > 0)
      result[keyword] = value.map(inside);
    else if (keyword === "$ref" && isText(value) && value.startsWith("#")) result.$ref = value;
  }
  // Providers refuse an array schema without `items`.
  const { type } = result;
  if ((type === "array" || (Array.isArray(type) && type.includes("array"))) && !result.items)
    result.items = {};
  return result;
}

function fitType(value: unknown): Json {
  if (isText(value)) return TYPES.has(value) ? { type: value } : {};
  const types = asTexts(value).filter((type) => TYPES.has(type));
  return types.length > 0 ? { type: [...new Set(types)] } : {};
}

/**
 * Removes references that cannot be resolved, and chains of references that never reach a schema.
 *
 * @param judged the references that were judged already. Without it, the work would grow with the square of a chain's
 * length.
 */
function checkReferences(node: unknown, root: Json, judged: Map<string, boolean>): void {
  if (Array.isArray(node)) for (const each of node) checkReferences(each, root, judged);
  if (!isObject(node)) return;
  if (isText(node.$ref) && !leadsSomewhere(node.$ref, root, judged)) delete node.$ref;
  for (const [keyword, value] of Object.entries(node))
    if (!["enum", "const", "default"].includes(keyword)) checkReferences(value, root, judged);
}

function leadsSomewhere(reference: string, root: Json, judged: Map<string, boolean>): boolean {
  const chain = new Set<string>();
  let isFound: boolean | undefined;
  for (let at = reference; isFound === undefined; ) {
    isFound = judged.get(at) ?? (chain.has(at) ? false : undefined);
    if (isFound !== undefined) break;
    chain.add(at);
    const target = resolvePointer(at, root);
    if (isObject(target) && isText(target.$ref)) at = target.$ref;
    else isFound = isObject(target);
  }
  for (const each of chain) judged.set(each, isFound);
  return isFound;
}

function resolvePointer(reference: string, root: Json): unknown {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  let at: unknown = root;
  for (const part of reference.slice(2).split("/")) {
    const name = decodePart(part);
    if ((!isObject(at) && !Array.isArray(at)) || !Object.hasOwn(at, name)) return undefined;
    at = (at as Json)[name];
  }
  return at;
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return part;
  }
}
