/** Listeners by key. A listener must not throw. */
type Listeners<Listener> = {
  add: (key: string, listener: Listener) => () => void;
  of: (key: string) => Iterable<Listener>;
  has: (key: string) => boolean;
  keys: () => string[];
};

/** @see Listeners */
export function createListeners<Listener>(): Listeners<Listener> {
  const sets = new Map<string, Set<{ listener: Listener }>>();
  return {
    add(key, listener) {
      const set = sets.get(key) ?? new Set();
      // Each call adds a new object, so that a function that is added twice is called twice.
      const entry = { listener };
      sets.set(key, set.add(entry));
      return () => {
        set.delete(entry);
        if (set.size === 0 && sets.get(key) === set) sets.delete(key);
      };
    },
    *of(key) {
      for (const { listener } of sets.get(key) ?? []) yield listener;
    },
    has: (key) => sets.has(key),
    keys: () => [...sets.keys()],
  };
}
