import { isObject, type JsonSchema, setOwn } from "./json.ts";

/**
 * `branch`: the index of the branch to use in each union (null branches are not counted), and of the value to use in
 * each `enum`. An index beyond the last one starts again at the first. `levelsMax`: parts at this level and at deeper
 * levels get their shortest form.
 */
type ExampleOptions = { branch?: number; levelsMax?: number };

/** If the example has more parts than this, each further part gets its shortest form. */
const PARTS_MAX = 2_000;
/** If the example has more parts than this, although the parts after `PARTS_MAX` are short, no example is built. */
const PARTS_END = 20_000;

/**
 * Builds a small value of a projected schema (a schema for a provider). Ignores constraints that only descriptions
 * state.
 *
 * @returns undefined if the schema has no value or only very large ones.
 */
export function buildExample(schema: JsonSchema, options: ExampleOptions = {}): unknown {
  const { branch = 0, levelsMax = 6 } = options;
  const resolve = createResolver(schema);
  const heights = measureHeights(schema, resolve);
  const heightOf = (part: unknown) => heights.get(resolve(part)) ?? Number.POSITIVE_INFINITY;
  let parts = 0;

  const build = (part: unknown, level: number): unknown => {
    parts += 1;
    if (parts > PARTS_END) throw new RangeError("the example is too large");
    const isShort = level >= levelsMax || parts > PARTS_MAX;
    const { anyOf, type, properties, items, description, ...rest } = resolve(part);
    if (Array.isArray(anyOf)) return build(pickBranch(anyOf, isShort), level + 1);
    if ("const" in rest) return rest.const;
    if (Array.isArray(rest.enum)) return rest.enum[branch % rest.enum.length];
    const kind = Array.isArray(type) ? type[0] : type;
    if (kind === "array")
      return isShort || heightOf(items) === Number.POSITIVE_INFINITY ? [] : [build(items, level + 1)];
    if (kind === "string" && Array.isArray(type) && isSpareText(description)) return null;
    if (kind === "string") return exampleText(description);
    if (kind !== "object") return scalars.get(String(kind));
    const value: Record<string, unknown> = {};
    for (const [name, each] of Object.entries(isObject(properties) ? properties : {}))
      setOwn(value, name, isSpare(name, each) ? null : build(each, level + 1));
    return value;
  };

  /**
   * Whether a property is the list of additional properties. The example sets this property to null, as its description
   * asks the model to do.
   */
  const isSpare = (name: string, part: unknown): boolean => {
    const { anyOf } = resolve(part);
    return /^additional(_\d+)?$/.test(name) && Array.isArray(anyOf) && anyOf.some(isNull);
  };
  const isNull = (part: unknown): boolean => resolve(part).type === "null";

  const pickBranch = (all: readonly unknown[], isShort: boolean): unknown => {
    const branches = all.filter((each) => heightOf(each) < Number.POSITIVE_INFINITY);
    if (isShort)
      return branches.reduce((one, other) => (heightOf(other) < heightOf(one) ? other : one), branches[0]);
    const nonNull = branches.filter((each) => !isNull(each));
    return nonNull.length === 0 ? branches[0] : nonNull[branch % nonNull.length];
  };

  if (heightOf(schema) === Number.POSITIVE_INFINITY) return undefined;
  try {
    return build(schema, 0);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The words with which the projection describes a string that contains JSON (`codec/text-codec.ts`). */
const JSON_TEXT = /(?:^|[.!?:…] )JSON text(?: of (an object|a list|a value))?/;

/** Whether a description is that of the text of additional properties, which the example leaves out. */
const isSpareText = (description: unknown): boolean =>
  typeof description === "string" && description.endsWith("; normally null.") && JSON_TEXT.test(description);

function exampleText(description: unknown): string {
  const [found, noun] = JSON_TEXT.exec(typeof description === "string" ? description : "") ?? [];
  if (found === undefined) return "text";
  return noun === "an object" ? "{}" : noun === "a list" ? "[]" : "1";
}

const scalars = new Map<string, unknown>([
  ["boolean", true],
  ["null", null],
  ["integer", 1],
  ["number", 1],
]);

type Resolve = (part: unknown) => JsonSchema;

function createResolver(schema: JsonSchema): Resolve {
  const $defs = isObject(schema.$defs) ? schema.$defs : {};
  return (part) => {
    if (!isObject(part) || typeof part.$ref !== "string") return isObject(part) ? part : {};
    const target = part.$ref === "#" ? schema : $defs[part.$ref.replace("#/$defs/", "")];
    return isObject(target) ? target : {};
  };
}

/** Measures the depth of the shallowest value of each part. Parts without a value of finite size are not in the map. */
function measureHeights(schema: JsonSchema, resolve: Resolve): Map<JsonSchema, number> {
  const heights = new Map<JsonSchema, number>();
  const measure = (part: JsonSchema): number | undefined => {
    const inner = (list: unknown[]) => list.map((each) => heights.get(resolve(each)));
    if (Array.isArray(part.anyOf)) {
      const finite = inner(part.anyOf).filter((height) => height !== undefined);
      return finite.length === 0 ? undefined : 1 + Math.min(...finite);
    }
    const members = inner(isObject(part.properties) ? Object.values(part.properties) : []);
    return members.reduce<number | undefined>(
      (most, height) => (most === undefined || height === undefined ? undefined : Math.max(most, height + 1)),
      0,
    );
  };
  const open = new Set(listParts(schema, resolve).reverse());
  for (let isSettled = false; !isSettled; ) {
    isSettled = true;
    for (const part of open) {
      const height = measure(part);
      if (height === undefined) continue;
      heights.set(part, height);
      open.delete(part);
      isSettled = false;
    }
  }
  return heights;
}

function listParts(schema: JsonSchema, resolve: Resolve): JsonSchema[] {
  const found = new Set<JsonSchema>([schema]);
  for (const part of found) {
    const { anyOf, properties, items } = part;
    const inner = [
      ...(Array.isArray(anyOf) ? anyOf : []),
      ...(isObject(properties) ? Object.values(properties) : []),
      ...(items === undefined ? [] : [items]),
    ];
    for (const each of inner) found.add(resolve(each));
  }
  return [...found];
}
