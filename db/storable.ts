/** Replaces the characters that the database cannot store: NUL and lone surrogates. */
export const storableText = (text: string): string => text.replaceAll("\0", "\ufffd").toWellFormed();

/** Makes all strings of a JSON value storable, including its keys. */
export function storable<Value>(value: Value): Value {
  const convert = (item: unknown): unknown => {
    if (typeof item === "string") return storableText(item);
    if (Array.isArray(item)) return item.map(convert);
    if (typeof item === "object" && item !== null)
      return Object.fromEntries(
        Object.entries(item).map(([key, inner]) => [storableText(key), convert(inner)]),
      );
    return item;
  };
  // Only the content of strings changes, so the type stays the same.
  return convert(value) as Value;
}
