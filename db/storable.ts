/** Text as the database can hold it: NUL characters and lone surrogates replaced. */
export const storableText = (text: string): string => text.replaceAll("\0", "\ufffd").toWellFormed();

/** A JSON value with all its strings made storable. */
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
  // Only strings change, so the shape is the one that came in.
  return convert(value) as Value;
}
