import { _, type KeywordCxt } from "ajv";
import type AjvCore from "ajv/dist/core.js";
import { isJsonEqual, isObject, kindOf } from "#lib/projection/json.ts";

/**
 * Replaces how `const`, `enum` and `uniqueItems` compare values; messages and parameters of errors remain those of ajv.
 * ajv itself calls the properties `toString` and `valueOf` of the compared values, compares their properties
 * `constructor` by reference, accepts repeated texts `__proto__`, and skips items of `prefixItems` if all further items
 * are scalars.
 *
 * Call this before the instance compiles its first schema.
 */
export function compareExactly(ajv: AjvCore): AjvCore {
  replaceCode(ajv, "const", (cxt, ajvCode) => {
    if (isScalar(cxt.schema)) ajvCode(cxt);
    else passIf(cxt, createMatcher([cxt.schema]));
  });
  replaceCode(ajv, "enum", (cxt, ajvCode) => {
    const { schema, it } = cxt;
    // For few scalars, the code of ajv compiles faster: it compares them with `===`.
    if (schema.length < it.opts.loopEnum && schema.every(isScalar)) ajvCode(cxt);
    else passIf(cxt, createMatcher(schema));
  });
  replaceCode(ajv, "uniqueItems", (cxt) => {
    const { gen, data, schema, parentSchema } = cxt;
    if (schema === false) return;
    const find = gen.scopeValue("func", { ref: createFinder(parentSchema) });
    const pair = gen.const("pair", _`${find}(${data})`);
    cxt.setParams({ i: _`${pair}.i`, j: _`${pair}.j` });
    cxt.fail(pair);
  });
  return ajv;
}

/** Replaces the code of a keyword. The keyword keeps its place in the order of errors. */
function replaceCode(
  ajv: AjvCore,
  keyword: string,
  replacement: (cxt: KeywordCxt, ajvCode: (cxt: KeywordCxt) => void) => void,
): void {
  const definition = ajv.getKeyword(keyword);
  if (typeof definition !== "object" || !("code" in definition)) throw new Error(`ajv lacks ${keyword}`);
  const { code } = definition;
  const names = ajv.RULES.rules
    .map(({ rules }) => rules.map((rule) => rule.keyword))
    .find((group) => group.includes(keyword));
  const before = names?.[names.indexOf(keyword) + 1];
  ajv.removeKeyword(keyword);
  ajv.addKeyword({
    ...definition,
    ...(before !== undefined && { before }),
    code: (cxt) => replacement(cxt, code),
  });
}

const passIf = (cxt: KeywordCxt, isAllowed: (value: unknown) => boolean): void =>
  cxt.pass(_`${cxt.gen.scopeValue("func", { ref: isAllowed })}(${cxt.data})`);

const isScalar = (value: unknown): boolean => typeof value !== "object" || value === null;

/** Creates a function that returns whether a value equals one of `allowed`. Scalars are looked up in a set. */
function createMatcher(allowed: readonly unknown[]): (value: unknown) => boolean {
  const scalars = new Set(allowed.filter(isScalar));
  const others = allowed.filter((value) => !isScalar(value));
  return (value) =>
    isScalar(value) ? scalars.has(value) : others.some((other) => isJsonEqual(value, other));
}

/** The indexes of two equal items, as ajv names them in an error. */
type Pair = { i: number; j: number };

/** Creates a function that finds two equal items of a list. It reports the same pair as ajv. */
function createFinder({
  items,
  prefixItems,
}: KeywordCxt["parentSchema"]): (list: unknown[]) => Pair | undefined {
  const types = isObject(items) && items.type !== undefined ? [items.type].flat() : [];
  const isOfScalars = types.length > 0 && !types.includes("object") && !types.includes("array");
  return isOfScalars && prefixItems === undefined ? (list) => findScalars(list, types) : findPair;
}

/** Finds equal scalars in a list whose items have one of `types`. Skips items of other types. */
function findScalars(list: unknown[], types: readonly unknown[]): Pair | undefined {
  const seen = new Map<unknown, number>();
  for (let i = list.length - 1; i >= 0; i -= 1) {
    const item = list[i];
    if (!types.includes(kindOf(item)) && !(types.includes("integer") && Number.isInteger(item))) continue;
    const j = seen.get(item);
    if (j !== undefined) return { i, j };
    seen.set(item, i);
  }
  return undefined;
}

/**
 * Finds the last item that equals an earlier one, and the nearest such earlier item. The time is linear in the number of
 * scalars, but quadratic in the number of objects and lists.
 */
function findPair(list: unknown[]): Pair | undefined {
  const seen = new Map<unknown, number>();
  let pair: Pair | undefined;
  for (const [i, item] of list.entries()) {
    if (!isScalar(item)) continue;
    const j = seen.get(item);
    if (j !== undefined) pair = { i, j };
    seen.set(item, i);
  }
  for (let i = list.length - 1; i > (pair?.i ?? 0); i -= 1) {
    if (isScalar(list[i])) continue;
    for (let j = i - 1; j >= 0; j -= 1) if (isJsonEqual(list[i], list[j])) return { i, j };
  }
  return pair;
}
