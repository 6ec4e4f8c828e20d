import { formatPath } from "#lib/variant/formats/imported/imported.ts";

const NESTING_MAX = 200;
const VALUES_MAX = 200_000;

type Place = { parent: Place | undefined; key: string | number };

/**
 * Finds the first reason why a JSON value cannot be stored or is unsafe to process: a NUL character, a lone surrogate,
 * a number too large for a double, a `__proto__` key, nesting deeper than 200 levels, or more than 200,000 values. Does
 * not recurse, because the value may be nested very deeply.
 *
 * @returns a sentence that begins with the field, or undefined if the value has no such flaw.
 */
export function findFlaw(value: unknown): string | undefined {
  const stack: { value: unknown; place: Place | undefined; depth: number }[] = [
    { value, place: undefined, depth: 0 },
  ];
  let values = 0;
  for (let next = stack.pop(); next; next = stack.pop()) {
    const { value: item, place, depth } = next;
    values += 1;
    if (values > VALUES_MAX) return `document: holds more than ${VALUES_MAX.toLocaleString("en")} values`;
    const problem =
      findOwnFlaw(item) ?? (depth > NESTING_MAX ? `is nested deeper than ${NESTING_MAX} levels` : undefined);
    if (problem !== undefined) return `${describePlace(place)}: ${problem}`;
    if (typeof item !== "object" || item === null) continue;
    const entries = Array.isArray(item) ? [...item.entries()] : Object.entries(item);
    for (const [key, inner] of entries.toReversed()) {
      const inside = { parent: place, key };
      const flaw = typeof key === "string" ? findKeyFlaw(key) : undefined;
      if (flaw !== undefined) return `${describePlace(inside)}: ${flaw}`;
      stack.push({ value: inner, place: inside, depth: depth + 1 });
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

/** Formats the path of a value, with at most its first 20 keys. The path of the whole value is `document`. */
function describePlace(place: Place | undefined): string {
  const keys: (string | number)[] = [];
  for (let at = place; at; at = at.parent) keys.push(at.key);
  return formatPath(keys.toReversed().slice(0, 20)) || "document";
}

/**
 * Whether a JSON text is nested deeper than 200 levels. Does not parse the text, because the parsed value could need
 * too much memory.
 */
export function isTooDeep(text: string): boolean {
  let depth = 0;
  let isInString = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (isInString) {
      if (code === 0x5c) index++;
      else if (code === 0x22) isInString = false;
    } else if (code === 0x22) isInString = true;
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > NESTING_MAX) return true;
    } else if (code === 0x7d || code === 0x5d) depth--;
  }
  return false;
}
