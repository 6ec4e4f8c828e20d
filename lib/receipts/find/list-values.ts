import { findFixed } from "./fixed-values.ts";

/** A string or number of a deliverable. */
export type Leaf = {
  pointer: string;
  /** The place of the value within its record: the same for the same field of all records of a list. */
  field: string;
  value: string | number;
  /** Whether no other record of the group has this value in this field. */
  isDistinct: boolean;
};

/**
 * Values that belong together: an object of a list with all that it contains, except objects of inner lists, which are
 * records of their own. `group` is the same for all records of one list.
 */
export type ValueRecord = { group: string; leaves: Leaf[] };

/** Further values are not listed. */
const VALUES_MAX = 2_000;
const DEPTH_MAX = 100;

/**
 * Lists the strings and numbers of a deliverable, by record. Leaves out booleans, null, empty strings, and values that
 * the schema fixes with `enum` or `const`: the model chooses them, it does not read them.
 */
export function listValues(
  value: unknown,
  schema: unknown,
): {
  records: ValueRecord[];
  /** All of them, in the order of the deliverable. */
  leaves: Leaf[];
  isCut: boolean;
} {
  const root: ValueRecord = { group: "", leaves: [] };
  const records = [root];
  const isFixed = findFixed(schema);
  const all: Leaf[] = [];
  let isCut = false;

  const visit = (node: unknown, at: Place) => {
    if (at.depth > DEPTH_MAX) {
      isCut = true;
      return;
    }
    if (Array.isArray(node)) {
      node.forEach((item, index) => {
        const pointer = `${at.pointer}/${index}`;
        const group = `${at.group}/*`;
        const isRecord = typeof item === "object" && item !== null && !Array.isArray(item);
        const record = isRecord ? { group, leaves: [] } : at.record;
        if (isRecord) records.push(record);
        const field = isRecord ? "" : `${at.field}/*`;
        visit(item, { pointer, group, record, field, depth: at.depth + 1, path: [...at.path, index] });
      });
    } else if (typeof node === "object" && node !== null) {
      for (const [name, item] of Object.entries(node)) {
        const step = `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
        visit(item, {
          ...at,
          pointer: at.pointer + step,
          group: at.group + step,
          field: at.field + step,
          depth: at.depth + 1,
          path: [...at.path, name],
        });
      }
    } else if ((typeof node === "string" && node.trim() !== "") || typeof node === "number") {
      if (isFixed(at.path, node)) return;
      if (all.length >= VALUES_MAX) {
        isCut = true;
        return;
      }
      const leaf = { pointer: at.pointer, field: at.field, value: node, isDistinct: true };
      at.record.leaves.push(leaf);
      all.push(leaf);
    }
  };
  visit(value, { pointer: "", group: "", record: root, field: "", depth: 0, path: [] });
  markRepeated(records);
  return { records: records.filter(({ leaves }) => leaves.length > 0), leaves: all, isCut };
}

/** Marks the values that several records of a group have in the same field. */
function markRepeated(records: ValueRecord[]): void {
  const first = new Map<string, { leaf: Leaf; record: ValueRecord }>();
  for (const record of records)
    for (const leaf of record.leaves) {
      const key = JSON.stringify([record.group, leaf.field, leaf.value]);
      const known = first.get(key);
      if (!known) first.set(key, { leaf, record });
      else if (known.record !== record) {
        known.leaf.isDistinct = false;
        leaf.isDistinct = false;
      }
    }
}

type Place = {
  pointer: string;
  group: string;
  record: ValueRecord;
  field: string;
  depth: number;
  path: (string | number)[];
};
