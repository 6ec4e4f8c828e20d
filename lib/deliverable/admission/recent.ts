/** A cache of values by the text they were computed from. */
type Recent<Value> = {
  find: (text: string) => Value | undefined;
  keep: (text: string, value: Value) => Value;
};

/** Creates a cache of the `max` most recently used values. */
export function createRecent<Value extends object>(max: number): Recent<Value> {
  const kept = new Map<string, Value>();

  /** Deletes and sets the entry, so that the map is ordered by last use. */
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
