/** A cache of computed values. The key of a value is a text that identifies what the value was computed from. */
type Recent<Value> = {
  find: (text: string) => Value | undefined;
  add: (text: string, value: Value) => Value;
};

/** Creates a cache of the `max` most recently used values. */
export function createRecent<Value extends object>(max: number): Recent<Value> {
  const entries = new Map<string, Value>();

  /** Stores a value. An existing entry is deleted first, so that the map is ordered by last use. */
  function add(text: string, value: Value): Value {
    entries.delete(text);
    entries.set(text, value);
    const [oldest] = entries.keys();
    if (entries.size > max && oldest !== undefined) entries.delete(oldest);
    return value;
  }

  return {
    find(text) {
      const cached = entries.get(text);
      return cached && add(text, cached);
    },
    add,
  };
}
