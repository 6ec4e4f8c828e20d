import { orElse } from "./add-words.ts";
import { type Codec, closedObject, isNever, refused, type Slot } from "./codec.ts";

/**
 * Creates the codec for a list whose items all have the same schema. The provider gets a list of the encoded items. The
 * codec does not check the length of lists: only `hasValue` uses `lengthMin`.
 */
export function createListCodec(item: Slot, lengthMin = 0): Codec {
  return {
    isPlain: true,
    hasValue: (has) => lengthMin === 0 || has(item.node),
    children: () => [item.node],
    outputs: () => ({ kinds: new Set(["array"]), heads: [] }),
    schema: (emit) => ({
      type: "array",
      items: emit(item, 1),
      ...(isNever(item.node) && { description: "Always empty." }),
    }),
    encode: (value, run) =>
      Array.isArray(value) ? mapAll(value, (each) => run.encode(item.node, each)) : refused,
    decode: (projected, run) =>
      Array.isArray(projected)
        ? mapAll(projected, (each, index) => run.decode(item.node, each, index))
        : run.refuse("must be array"),
    step: (projected, key) => ({
      path: [key],
      node: item.node,
      projected: Array.isArray(projected) ? projected[Number(key)] : undefined,
    }),
  };
}

/** A property as an entry of a list of properties: its name and its value. */
export type Entry = { key: string; value: unknown };

/**
 * Creates the codec for properties with arbitrary names. The provider gets a list of `{ "key": …, "value": … }`.
 *
 * @param isNullable whether an empty list is sent as null. This is so if the object also has named properties, or is sent
 * as several such lists.
 */
export function createEntriesCodec(value: Slot, isNullable: boolean): Codec {
  return {
    children: () => [value.node],
    outputs: () => ({ kinds: new Set(["array"]), heads: [] }),
    schema(emit) {
      const items = closedObject({ key: { type: "string" }, value: emit(value, 3) });
      const list = { type: "array", items };
      return isNullable ? orElse(list, { type: "null" }) : list;
    },
    encode(entries, run) {
      const list = entries as Entry[];
      if (isNullable && list.length === 0) return null;
      return mapAll(list, (entry) => {
        const form = run.encode(value.node, entry.value);
        return form === refused ? refused : { key: entry.key, value: form };
      });
    },
    decode(projected, run) {
      if (isNullable && projected === null) return [];
      if (!Array.isArray(projected)) return run.refuse("must be array");
      return mapAll(projected, (entry, index) => {
        if (!isEntry(entry)) return run.refuse('must be an object of "key" and "value"', index);
        const back = run.decode(value.node, entry.value, index, "value");
        return back === refused ? refused : { key: entry.key, value: back };
      });
    },
    // When a key repeats, the last entry wins, so a violation at this key is in the last entry.
    step(projected, key) {
      const entries: unknown[] = Array.isArray(projected) ? projected : [];
      const index = entries.findLastIndex((entry) => isEntry(entry) && entry.key === key);
      const entry = entries[index];
      if (!isEntry(entry)) return undefined;
      return { path: [String(index), "value"], node: value.node, projected: entry.value };
    },
  };
}

const isEntry = (entry: unknown): entry is Entry =>
  typeof entry === "object" &&
  entry !== null &&
  Object.keys(entry).length === 2 &&
  Object.hasOwn(entry, "value") &&
  "key" in entry &&
  typeof entry.key === "string";

/** Converts every item, or returns `refused` if one of them cannot be converted. */
function mapAll<Item>(items: readonly Item[], form: (item: Item, index: number) => unknown): unknown {
  const converted: unknown[] = [];
  for (const [index, item] of items.entries()) {
    const each = form(item, index);
    if (each === refused) return refused;
    converted.push(each);
  }
  return converted;
}
