import type { SchemaObject } from "#lib/deliverable/admission/walk-schema.ts";
import type { Codec, Node, Slot } from "../codec/codec.ts";
import { createEntriesCodec, createListCodec } from "../codec/list-codec.ts";
import { createObjectCodec } from "../codec/object-codec.ts";
import { scalarCodec } from "../codec/scalar-codec.ts";
import { createUnionCodec } from "../codec/union-codec.ts";
import type { Budget } from "../schema/budget.ts";
import type { EvaluatedNames } from "../schema/evaluated-names.ts";
import type { Formula } from "../schema/formula.ts";
import type { SchemaIndex } from "../schema/schema-index.ts";

/** A constraint that became a sentence: its place in the caller's schema, and the sentence for the model. */
export type Folded = { pointer: string; keyword: string; sentence: string };

/** The context in which the places of a graph are built. */
export type Builder = {
  index: SchemaIndex;
  budget: Budget;
  /** Budget for properties and positions of lists. */
  fields: Budget;
  /** Budget for properties that several branches of a union repeat. */
  copies: Budget;
  evaluated: EvaluatedNames;
  common: CommonNodes;
  /** Returns the place of a formula, whose codec is built later. `undefined` is the formula that no value satisfies. */
  slotOf: (formula: Formula | undefined) => Slot;
  /** Returns the place of a formula with its codec, for unions, which inspect their branches. */
  buildNow: (formula: Formula) => Slot;
  note: (schema: SchemaObject, keyword: string, sentence: string) => void;
};

/** Places that every schema shares. */
type CommonNodes = {
  /** Any JSON value. */
  anyValue: Node;
  /** The list of entries of an object whose additional values have one place. With `isNullable`, null means no entries. */
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
  const anyObject = createObjectCodec([], [{ node: entriesOf(slot, "", false), value: anyValue }]);
  const scalars = (["string", "number", "boolean", "null"] as const).map(scalarCodec);
  anyValue.codec = createUnionCodec(
    [...scalars, anyList, anyObject].map((codec) => ({
      slot: { node: createNode(codec, "json"), note: "" },
      label: () => "json",
    })),
  );
  return { anyValue, entriesOf, anyList, anyObject };
}
