import { shorten } from "#lib/text/shorten.ts";
/** The JSON type of a value. */
export type Kind = "null" | "boolean" | "number" | "string" | "array" | "object";

/** A schema that is sent to a provider. */
export type JsonSchema = { [keyword: string]: unknown };

/** Returns the JSON type of a value; undefined for a value of a type that JSON does not have, such as a function. */
export function kindOf(value: unknown): Kind | undefined {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  const type = typeof value;
  return type === "boolean" || type === "number" || type === "string" || type === "object" ? type : undefined;
}

export const isObject = (value: unknown): value is Record<string, unknown> => kindOf(value) === "object";

/** Reads an own property, so that `__proto__` and `constructor` are treated as ordinary names. */
export const ownValue = (object: Record<string, unknown>, key: string): unknown =>
  Object.hasOwn(object, key) ? object[key] : undefined;

/** Sets an own property, even if its name is `__proto__`. */
export function setOwn(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") object[key] = value;
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

/**
 * Whether two JSON values are equal. The order of properties does not matter. No property of the values is called, and
 * minus zero equals zero.
 */
export function isJsonEqual(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false;
    for (let index = 0; index < one.length; index += 1)
      if (!isJsonEqual(one[index], other[index])) return false;
    return true;
  }
  if (!isObject(one) || !isObject(other)) return false;
  const keys = Object.keys(one);
  if (keys.length !== Object.keys(other).length) return false;
  for (const key of keys) if (!Object.hasOwn(other, key) || !isJsonEqual(one[key], other[key])) return false;
  return true;
}

/** Returns JSON text with sorted keys, so that equal values have equal texts. */
export function stableText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(stableText).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "null";
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${stableText(value[key])}`).join(",")}}`;
}

/**
 * Returns the JSON text of a value, cut off with `…` after `charactersMax` characters. Does not read the rest of the
 * value.
 */
export function briefText(value: unknown, charactersMax: number): string {
  let text = "";
  const isFull = () => text.length > charactersMax;
  const write = (part: unknown): void => {
    if (isFull()) return;
    if (Array.isArray(part)) {
      text += "[";
      for (const [index, item] of part.entries()) {
        if (isFull()) return;
        if (index > 0) text += ",";
        write(item);
      }
      text += "]";
    } else if (isObject(part)) {
      text += "{";
      let isFirst = true;
      for (const key in part) {
        if (isFull()) return;
        text += `${isFirst ? "" : ","}${JSON.stringify(key)}:`;
        isFirst = false;
        write(part[key]);
      }
      text += "}";
    } else if (typeof part === "string") text += JSON.stringify(part.slice(0, charactersMax + 1));
    else text += JSON.stringify(part) ?? "null";
  };
  write(value);
  return shorten(text, charactersMax);
}
