// Old libraries replace methods of arrays and strings by others with the same name, for example `Array.prototype.reduce`.
// The runtime shares these prototypes with the page, so it has its own functions, which use no method of an array.

const { match: matchString } = String.prototype;

/** Appends an item. */
export function add<Item>(list: Item[], item: Item): void {
  list[list.length] = item;
}

export function map<Item, Result>(
  list: readonly Item[],
  change: (item: Item, index: number) => Result,
): Result[] {
  const results: Result[] = [];
  for (let index = 0; index < list.length; index++) results[index] = change(list[index] as Item, index);
  return results;
}

/** Collects the items of the lists that `change` returns. It can return no list, which is cheaper than an empty one. */
export function flatMap<Item, Result>(
  list: readonly Item[],
  change: (item: Item) => readonly Result[] | false | null,
): Result[] {
  const results: Result[] = [];
  for (const item of list) {
    const part = change(item);
    if (part) for (const result of part) add(results, result);
  }
  return results;
}

/** The items for which `test` returns a truthy value. */
export const filter = <Item>(list: readonly Item[], test: (item: Item, index: number) => unknown): Item[] => {
  const results: Item[] = [];
  map(list, (item, index) => {
    if (test(item, index)) add(results, item);
  });
  return results;
};

/** The index of the first item for which `test` returns a truthy value; -1 if there is none. */
function findIndex<Item>(list: readonly Item[], test: (item: Item, index: number) => unknown): number {
  for (let index = 0; index < list.length; index++) if (test(list[index] as Item, index)) return index;
  return -1;
}

export const find = <Item>(list: readonly Item[], test: (item: Item) => unknown): Item | undefined =>
  list[findIndex(list, test)];

export const some = <Item>(list: readonly Item[], test: (item: Item, index: number) => unknown): boolean =>
  findIndex(list, test) >= 0;

export const every = <Item>(list: readonly Item[], test: (item: Item, index: number) => unknown): boolean =>
  !some(list, (item, index) => !test(item, index));

export const includes = <Item>(list: readonly Item[], item: Item): boolean =>
  some(list, (each) => each === item);

export const last = <Item>(list: readonly Item[]): Item | undefined => list[list.length - 1];

/** A copy in reverse order. */
export const reverse = <Item>(list: readonly Item[]): Item[] =>
  map(list, (_item, index) => list[list.length - 1 - index] as Item);

/** A copy without an item. */
export const without = <Item>(list: readonly Item[], item: Item | undefined): Item[] =>
  filter(list, (each) => each !== item);

/** Joins words, with a space between each two. */
export function join(words: readonly string[]): string {
  let joined = "";
  for (const word of words) joined += joined ? ` ${word}` : word;
  return joined;
}

/** The words of a text that white space separates. */
export const readWords = (text: string | null): string[] =>
  (text && (Reflect.apply(matchString, text, [/\S+/g]) as string[] | null)) || [];
