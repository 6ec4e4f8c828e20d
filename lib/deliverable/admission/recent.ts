/** Values that were made last, by the text they were made of. */
type Recent<Value> = {
  find: (text: string) => Value | undefined;
  keep: (text: string, value: Value) => Value;
};

/** Keeps the `max` values that were asked for last. */
export function createRecent<Value extends object>(max: number): Recent<Value> {
  const kept = new Map<string, Value>();

  /** Deleted and set again, so that the map's order is that of last use. */
  function keep(text: string, value: Value): Value {
    kept.delete(text);
    kept.set(text, value);
    const [oldest] = kept.keys();
    if (kept.size > max && oldest !== undefined) kept.delete(oldest);
    return value;
  }

  return {
    find(text) {
      const known = kept.get(text);
      return known && keep(text, known);
    },
    keep,
  };
}
