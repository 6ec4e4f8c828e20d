/** How deeply JSON from outside may be nested. */
const NESTING_MAX = 200;
/** Maximum number of values in JSON from outside, because validation costs time and memory for each value. */
const VALUES_MAX = 200_000;

/** Why a JSON value is refused. `sentence` continues a sentence whose subject is the field at `path`. */
export type JsonFlaw = { path: (string | number)[]; sentence: string };

const TOO_DEEP = `is nested deeper than ${NESTING_MAX} levels`;
const refuseCount = (valuesMax: number): JsonFlaw => ({
  path: [],
  sentence: `holds more than ${valuesMax.toLocaleString("en")} values`,
});

/**
 * Checks the limits on nesting and on the number of values. Does not parse the text, because the parsed value could
 * need too much memory. An empty array or object counts as two values.
 *
 * @returns undefined if the text keeps the limits. If the nesting is too deep, `path` names the top-level field.
 */
export function findSizeFlaw(text: string, valuesMax = VALUES_MAX): JsonFlaw | undefined {
  let depth = 0;
  let values = 1;
  let isInString = false;
  let stringFrom = 0;
  let field: string[] = [];
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (isInString) {
      if (code === 0x5c) index++;
      else if (code === 0x22) isInString = false;
    } else if (code === 0x22) {
      isInString = true;
      stringFrom = index;
    } else if (code === 0x3a && depth === 1) field = readKey(text.slice(stringFrom, index));
    else if (code === 0x2c) values++;
    else if (code === 0x7b || code === 0x5b) {
      values++;
      if (++depth > NESTING_MAX) return { path: field, sentence: TOO_DEEP };
    } else if (code === 0x7d || code === 0x5d) depth--;
  }
  return values > valuesMax ? refuseCount(valuesMax) : undefined;
}

/** Parses the text of a key. Returns an empty path for invalid JSON, because `JSON.parse` reports the error later. */
function readKey(text: string): string[] {
  try {
    return [String(JSON.parse(text))];
  } catch {
    return [];
  }
}

type PathSegment = { parent: PathSegment | undefined; key: string | number };

/**
 * Finds the first reason why a JSON value cannot be stored and read back unchanged, or is unsafe to process: a NUL
 * character, a lone surrogate, a number too large for a double, a `__proto__` key, too deep nesting or too many values.
 * Does not recurse, because the value may be nested very deeply.
 */
export function findJsonFlaw(value: unknown): JsonFlaw | undefined {
  const stack: { value: unknown; place: PathSegment | undefined; depth: number }[] = [
    { value, place: undefined, depth: 0 },
  ];
  let values = 0;
  for (let next = stack.pop(); next; next = stack.pop()) {
    const { value: item, place, depth } = next;
    values += 1;
    if (values > VALUES_MAX) return refuseCount(VALUES_MAX);
    const sentence = findOwnFlaw(item) ?? (depth > NESTING_MAX ? TOO_DEEP : undefined);
    if (sentence !== undefined) return { path: pathOf(place), sentence };
    if (typeof item !== "object" || item === null) continue;
    const entries = Array.isArray(item) ? [...item.entries()] : Object.entries(item);
    for (const [key, inner] of entries.toReversed())
      stack.push({ value: inner, place: { parent: place, key }, depth: depth + 1 });
    for (const [key] of entries) {
      const flaw = typeof key === "string" ? findKeyFlaw(key) : undefined;
      if (flaw !== undefined) return { path: [...pathOf(place), key], sentence: flaw };
    }
  }
  return undefined;
}

function findOwnFlaw(item: unknown): string | undefined {
  if (typeof item === "string") return findTextFlaw(item);
  return typeof item === "number" && !Number.isFinite(item) ? "is too large a number" : undefined;
}

const findKeyFlaw = (key: string): string | undefined =>
  key === "__proto__" ? "is not an allowed key" : findTextFlaw(key);

function findTextFlaw(text: string): string | undefined {
  if (text.includes("\0")) return "must not contain NUL characters";
  return text.isWellFormed() ? undefined : "must be well-formed Unicode (it holds a lone surrogate)";
}

function pathOf(place: PathSegment | undefined): (string | number)[] {
  const keys: (string | number)[] = [];
  for (let at = place; at; at = at.parent) keys.push(at.key);
  return keys.toReversed();
}
