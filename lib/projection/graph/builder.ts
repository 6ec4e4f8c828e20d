import type { Codec, Node, Slot } from "../codec/codec.ts";
import { createEntriesCodec, createListCodec } from "../codec/list-codec.ts";
import { createObjectCodec } from "../codec/object-codec.ts";
import { scalarCodec } from "../codec/scalar-codec.ts";
import { createUnionCodec } from "../codec/union-codec.ts";
import type { FindEntangled } from "../schema/compare-branches.ts";
import type { EvaluatedNames } from "../schema/evaluated-names.ts";
import type { Formula } from "../schema/formula.ts";
import type { NameReading } from "../schema/reads-names.ts";
import type { SchemaIndex } from "../schema/schema-index.ts";
import type { SchemaObject } from "../schema/walk-schema.ts";
import type { WorkBudget } from "../schema/work-budget.ts";

/**
 * A constraint that became a sentence in a description: the JSON pointer of its schema, its keyword, and the sentence.
 */
export type Folded = { pointer: string; keyword: string; sentence: string };

/** The context in which the nodes of a graph are built. */
export type Builder = {
  index: SchemaIndex;
  budget: WorkBudget;
  /** Whether the schema is that of a tool's input. Its values are not converted, so every object stays as open as it is. */
  isInput: boolean;
  /** The formula whose unions are merged into one form. Undefined if no union has to be merged. */
  merged: Formula | undefined;
  /** Budget for properties and list positions. */
  fields: WorkBudget;
  /** Budget for the properties that branches of unions copy from the schema around the union. */
  copies: WorkBudget;
  evaluated: EvaluatedNames;
  reading: NameReading;
  findEntangled: FindEntangled;
  common: CommonNodes;
  /**
   * Returns the node for a formula; its codec is built later. Pass undefined for a formula that no value satisfies.
   * `isTested`: see {@link Formula}.
   */
  slotOf: (formula: Formula | undefined, isTested: boolean) => Slot;
  /**
   * Returns the node for a formula and builds its codec at once. Unions need this, because they inspect their branches.
   * If the node is already being built, or if unions are nested too deeply, returns `common.anyValue` instead.
   */
  buildNow: (formula: Formula) => Slot;
  note: (schema: SchemaObject, keyword: string, sentence: string) => void;
};

/** Nodes and codecs that several parts of a graph share. */
type CommonNodes = {
  /** The node of a part that may be any JSON value. */
  anyValue: Node;
  /**
   * Returns the node for a list of entries whose values have the node of `value`. `words` is the description of the
   * list. `isNullable`: null means no entries.
   */
  entriesOf: (value: Slot, words: string, isNullable: boolean) => Node;
  anyList: Codec;
  anyObject: Codec;
};

export const createNode = (codec: Codec, name: string, description = ""): Node => ({
  codec,
  name,
  description,
});

export function createCommonNodes(unbuilt: Codec): CommonNodes {
  const cached = new Map<Node, Map<string, Node>>();
  const entriesOf = (value: Slot, words: string, isNullable: boolean): Node => {
    const ofValue = cached.get(value.node) ?? new Map<string, Node>();
    cached.set(value.node, ofValue);
    const key = `${isNullable} ${words} ${value.note}`;
    const name = isNullable && value.node === anyValue ? "additional" : `${value.node.name}_entries`;
    const node = ofValue.get(key) ?? createNode(createEntriesCodec(value, isNullable), name, words);
    ofValue.set(key, node);
    return node;
  };
  const anyValue = createNode(unbuilt, "json", "Any JSON value; an object as a list of its entries.");
  const slot: Slot = { node: anyValue, note: "" };
  const anyList = createListCodec(slot);
  const entries = { node: entriesOf(slot, "", false), value: anyValue, isImplied: false };
  const anyObject = createObjectCodec([], [entries]);
  const scalars = (["string", "number", "boolean", "null"] as const).map(scalarCodec);
  const union = createUnionCodec(
    [...scalars, anyList, anyObject].map((codec) => ({
      slot: { node: createNode(codec, "json"), note: "" },
      label: () => "json",
    })),
  );
  anyValue.codec = { ...union, isAny: true };
  return { anyValue, entriesOf, anyList, anyObject };
}
