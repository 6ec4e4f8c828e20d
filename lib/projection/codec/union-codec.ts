import { isObject, type JsonSchema, type Kind, kindOf } from "../json.ts";
import { anyOf } from "./add-words.ts";
import { readOnly } from "./choice-codec.ts";
import { makeName } from "./choose-names.ts";
import {
  type Codec,
  closedObject,
  type Head,
  type Node,
  type Outputs,
  once,
  refused,
  type Slot,
  type Step,
} from "./codec.ts";

/** One branch of a union. `label` returns its name, which is used if the forms of the branches look alike. */
export type Branch = { slot: Slot; label: () => string };

type ProjectedBranch = { slot: Slot; outputs: Outputs; tag: string | undefined };

/**
 * Creates the codec for a value that has one of several forms. The forms are sent without labels if two conditions are
 * met: the first key of each object form occurs in no other form; and at most one branch has lists, or encoding leaves
 * all lists unchanged. Otherwise each list or object is wrapped in an object with the label of its branch:
 * `{ "circle": { … } }`.
 */
export function createUnionCodec(all: readonly Branch[]): Codec {
  // The index is computed at its first use, because the forms of the branches are known only when the graph is
  // complete.
  const index = once(() => indexBranches(tagBranches(all)));
  return {
    children: () => all.map(({ slot }) => slot.node),
    hasValue: (has) => all.some(({ slot }) => has(slot.node)),
    outputs: once(() => unite(index().branches)),
    isUnion: () => all.length > 1,

    schema(emit) {
      const forms = index().branches.map(({ slot, tag }): JsonSchema => {
        return tag === undefined ? emit(slot, 1) : closedObject({ [tag]: emit(slot, 2) });
      });
      const [only] = forms;
      return only && forms.length === 1 ? only : { anyOf: forms };
    },
    ownSchema: (emit) => anyOf(all.map(({ slot }) => emit(slot, 1))),

    encode(value, run) {
      for (const { slot, tag } of index().branches) {
        const form = run.encode(slot.node, value);
        if (form !== refused) return tag === undefined ? form : { [tag]: form };
      }
      return refused;
    },

    decode(projected, run) {
      const tagged = findTagged(index(), projected);
      if (tagged) return run.decode(tagged.node, readOnly(projected, tagged.tag), tagged.tag);
      const candidates = findCandidates(index(), projected);
      if (candidates.length === 0) return run.refuse("must have one of the forms of the schema");
      let decoded: unknown = refused;
      for (const { slot } of candidates) {
        decoded = run.decode(slot.node, projected);
        if (decoded !== refused) break;
      }
      return decoded;
    },

    enter(projected): Step | undefined {
      const tagged = findTagged(index(), projected);
      if (tagged)
        return { path: [tagged.tag], node: tagged.node, projected: readOnly(projected, tagged.tag) };
      const [branch] = findCandidates(index(), projected);
      return branch && { path: [], node: branch.slot.node, projected };
    },
  };
}

/** The branches of a union, with indexes to find the branch that a projected value belongs to. */
type BranchIndex = {
  branches: readonly ProjectedBranch[];
  /** Branches that are wrapped with a label, by label. */
  byTag: ReadonlyMap<string, Node>;
  /** Object branches that are not wrapped, by their first key. */
  byFirstKey: ReadonlyMap<string, ProjectedBranch>;
  /** Branches that are not wrapped, by JSON type. */
  byKind: ReadonlyMap<Kind, readonly ProjectedBranch[]>;
};

function indexBranches(branches: readonly ProjectedBranch[]): BranchIndex {
  const byTag = new Map<string, Node>();
  const byFirstKey = new Map<string, ProjectedBranch>();
  const byKind = new Map<Kind, ProjectedBranch[]>();
  for (const branch of branches) {
    const { slot, tag, outputs } = branch;
    if (tag !== undefined) {
      byTag.set(tag, slot.node);
      continue;
    }
    for (const { first } of outputs.heads) byFirstKey.set(first, branch);
    for (const kind of outputs.kinds) byKind.set(kind, [...(byKind.get(kind) ?? []), branch]);
  }
  return { branches, byTag, byFirstKey, byKind };
}

/** Finds the branch whose label is the only key of a projected value. */
function findTagged({ byTag }: BranchIndex, projected: unknown): { tag: string; node: Node } | undefined {
  const [tag] = isObject(projected) ? Object.keys(projected) : [];
  if (tag === undefined || readOnly(projected, tag) === undefined) return undefined;
  const node = byTag.get(tag);
  return node && { tag, node };
}

/** Finds the branches that are not wrapped and that a projected value may belong to. */
function findCandidates({ byKind, byFirstKey }: BranchIndex, projected: unknown): readonly ProjectedBranch[] {
  const kind = kindOf(projected);
  const found = (kind && byKind.get(kind)) ?? [];
  if (!isObject(projected) || found.length < 2) return found;
  for (const key of Object.keys(projected)) {
    const branch = byFirstKey.get(key);
    if (branch) return [branch];
  }
  return [];
}

/** Decides which branches are wrapped in an object with their label. */
function tagBranches(all: readonly Branch[]): ProjectedBranch[] {
  const branches = all.map(({ slot, label }) => ({ slot, label, outputs: slot.node.codec.outputs() }));
  const isComposite = ({ outputs }: { outputs: Outputs }) =>
    outputs.kinds.has("object") || outputs.kinds.has("array") || outputs.isText === true;
  const strings = branches.filter(({ outputs }) => outputs.kinds.has("string"));
  // A text could be a string of another branch.
  const areTextsClear = strings.length < 2 || !strings.some(({ outputs }) => outputs.isText);
  const lists = branches.filter(({ outputs }) => outputs.kinds.has("array"));
  const areListsClear = lists.length < 2 || lists.every(({ slot }) => isPlain(slot.node.codec, 3));
  const objects = branches.filter(({ outputs }) => outputs.heads.length > 0);
  const isClear =
    areTextsClear &&
    areListsClear &&
    (objects.length < 2 || areClear(objects.flatMap(({ outputs }) => outputs.heads)));
  const taken = new Set<string>();
  const counts = new Map<string, number>();
  return branches.map(({ slot, label, outputs }) => ({
    slot,
    outputs,
    tag: !isClear && isComposite({ outputs }) ? makeName(label(), taken, counts) : undefined,
  }));
}

/** Whether the first key of each object form occurs in no other object form. */
function areClear(heads: readonly Head[]): boolean {
  const uses = new Map<string, number>();
  for (const { keys } of heads) for (const key of keys) uses.set(key, (uses.get(key) ?? 0) + 1);
  return heads.every(({ first }) => uses.get(first) === 1);
}

/**
 * Whether a codec and all codecs below it leave values unchanged. False if they are nested more than `levels` levels
 * deep.
 */
const isPlain = (codec: Codec, levels: number): boolean =>
  codec.isPlain === true && levels > 0 && codec.children().every((child) => isPlain(child.codec, levels - 1));

function unite(branches: readonly ProjectedBranch[]): Outputs {
  const kinds = new Set<Kind>();
  const heads: Head[] = [];
  const isText = branches.some(({ outputs, tag }) => tag === undefined && outputs.isText);
  for (const { outputs, tag } of branches) {
    if (tag !== undefined) {
      kinds.add("object");
      heads.push({ first: tag, keys: [tag] });
      continue;
    }
    for (const kind of outputs.kinds) kinds.add(kind);
    heads.push(...outputs.heads);
  }
  return { kinds, heads, isText };
}
