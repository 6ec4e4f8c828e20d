/** Random values that derive from a seed, so that a case with the same seed makes the same choices. */
export type Random = {
  /** A number from 0 (inclusive) to 1 (exclusive). */
  next: () => number;
  /** A whole number from `least` to `most`, both inclusive. */
  between: (least: number, most: number) => number;
  pick: <Item>(items: readonly Item[]) => Item;
  /** A random name of eight letters. */
  name: () => string;
};

/**
 * Creates the generator (Mulberry32) from a seed and the name of a case. Because of the name, two cases with the same
 * seed get different values.
 */
export function createRandom(seed: number, name: string): Random {
  let state = [...name].reduce(
    (hash, letter) => Math.imul(hash ^ letter.charCodeAt(0), 16_777_619),
    seed ^ 0x811c9dc5,
  );
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    between,
    pick(items) {
      const item = items[between(0, items.length - 1)];
      if (item === undefined) throw new Error("there is nothing to pick from");
      return item;
    },
    name: () => Array.from({ length: 8 }, () => "abcdefghijklmnopqrstuvwxyz"[between(0, 25)]).join(""),
  };
}
