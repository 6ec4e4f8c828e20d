import { isObject, type JsonSchema, type Kind, kindOf } from "../json.ts";
import { readOnly } from "./choice-codec.ts";
import { makeName } from "./choose-names.ts";
import {
  type Codec,
  closedObject,
  type Head,
  type Outputs,
  once,
  refused,
  type Slot,
  type Step,
} from "./codec.ts";

/** One of several forms. `label` is what the branch is called where the forms have to be told apart. */
export type Branch = { slot: Slot; label: () => string };

type ProjectedBranch = { slot: Slot; outputs: Outputs; tag: string | undefined };

/**
 * A value of one of several forms. As long as the projected forms can be told apart by looking at them (their JSON
 * type, or a property that only one has and begins with) they travel as they are; else those that are lists or
 * objects travel under their label: `{ "circle": { … } }`.
 */
export function createUnionCodec(all: readonly Branch[]): Codec {
  const branches = once(() => tagBranches(all));
  const byTag = once(
    () => new Map(branches().flatMap((each) => (each.tag === undefined ? [] : [[each.tag, each]]))),
  );
  const byKey = once(() => {
    const map = new Map<string, ProjectedBranch>();
    for (const branch of branches())
      if (branch.tag === undefined) for (const { first } of branch.outputs.heads) map.set(first, branch);
    return map;
  });
  const ofKind = once(() => {
    const map = new Map<Kind, ProjectedBranch[]>();
    for (const branch of branches())
      if (branch.tag === undefined)
        for (const kind of branch.outputs.kinds) map.set(kind, [...(map.get(kind) ?? []), branch]);
    return map;
  });

  const taggedFor = (projected: unknown): ProjectedBranch | undefined => {
    const [key] = isObject(projected) ? Object.keys(projected) : [];
    return key === undefined || readOnly(projected, key) === undefined ? undefined : byTag().get(key);
  };
  /** The branches whose form a projected value may be. */
  const candidates = (projected: unknown): readonly ProjectedBranch[] => {
    const kind = kindOf(projected);
    const found = (kind && ofKind().get(kind)) ?? [];
    if (!isObject(projected) || found.length < 2) return found;
    for (const key of Object.keys(projected)) {
      const branch = byKey().get(key);
      if (branch) return [branch];
    }
    return [];
  };

  return {
    children: () => all.map(({ slot }) => slot.node),
    hasValue: (has) => all.some(({ slot }) => has(slot.node)),
    outputs: once(() => unite(branches())),

    schema(emit) {
      const forms = branches().map(({ slot, tag }): JsonSchema => {
        return tag === undefined ? emit(slot, 1) : closedObject({ [tag]: emit(slot, 2) });
      });
      const [only] = forms;
      return only && forms.length === 1 ? only : { anyOf: forms };
    },

    encode(value, run) {
      for (const { slot, tag } of branches()) {
        const form = run.encode(slot.node, value);
        if (form !== refused) return tag === undefined ? form : { [tag]: form };
      }
      return refused;
    },

    decode(projected, run) {
      const tagged = taggedFor(projected);
      if (tagged)
        return run.decode(tagged.slot.node, readOnly(projected, tagged.tag ?? ""), tagged.tag ?? "");
      const found = candidates(projected);
      if (found.length === 0) return run.refuse("must have one of the forms of the schema");
      let back: unknown = refused;
      for (const { slot } of found) {
        back = run.decode(slot.node, projected);
        if (back !== refused) break;
      }
      return back;
    },

    enter(projected): Step | undefined {
      const tagged = taggedFor(projected);
      if (tagged?.tag !== undefined)
        return { path: [tagged.tag], node: tagged.slot.node, projected: readOnly(projected, tagged.tag) };
      const [branch] = candidates(projected);
      return branch && { path: [], node: branch.slot.node, projected };
    },
  };
}

/** Decides which branches travel under a label. */
function tagBranches(all: readonly Branch[]): ProjectedBranch[] {
  const branches = all.map(({ slot, label }) => ({ slot, label, outputs: slot.node.codec.outputs() }));
  const isComposite = ({ outputs }: { outputs: Outputs }) =>
    outputs.kinds.has("object") || outputs.kinds.has("array");
  const lists = branches.filter(({ outputs }) => outputs.kinds.has("array"));
  const areListsClear = lists.length < 2 || lists.every(({ slot }) => isPlain(slot.node.codec, 3));
  const objects = branches.filter(({ outputs }) => outputs.heads.length > 0);
  const isClear =
    areListsClear && (objects.length < 2 || areClear(objects.flatMap(({ outputs }) => outputs.heads)));
  const taken = new Set<string>();
  const counts = new Map<string, number>();
  return branches.map(({ slot, label, outputs }) => ({
    slot,
    outputs,
    tag: !isClear && isComposite({ outputs }) ? makeName(label(), taken, counts) : undefined,
  }));
}

/** Whether each object begins with a key that no other has. */
function areClear(heads: readonly Head[]): boolean {
  const uses = new Map<string, number>();
  for (const { keys } of heads) for (const key of keys) uses.set(key, (uses.get(key) ?? 0) + 1);
  return heads.every(({ first }) => uses.get(first) === 1);
}

/** Whether values travel as they are: scalars, and lists of them. */
const isPlain = (codec: Codec, levels: number): boolean =>
  codec.isPlain === true && levels > 0 && codec.children().every((child) => isPlain(child.codec, levels - 1));

function unite(branches: readonly ProjectedBranch[]): Outputs {
  const kinds = new Set<Kind>();
  const heads: Head[] = [];
  for (const { outputs, tag } of branches) {
    if (tag !== undefined) {
      kinds.add("object");
      heads.push({ first: tag, keys: [tag] });
      continue;
    }
    for (const kind of outputs.kinds) kinds.add(kind);
    heads.push(...outputs.heads);
  }
  return { kinds, heads };
}
