import type { Codec, Node, Slot } from "../codec/codec.ts";
import { createEntriesCodec } from "../codec/list-codec.ts";
import { createTextCodec, createTextEntriesCodec } from "../codec/text-codec.ts";
import type { FindEntangled } from "../schema/compare-branches.ts";
import type { EvaluatedNames } from "../schema/evaluated-names.ts";
import type { Formula } from "../schema/formula.ts";
import type { BoundRules } from "../schema/read-bounds.ts";
import type { NameReading } from "../schema/reads-names.ts";
import type { SchemaIndex } from "../schema/schema-index.ts";
import type { SchemaObject } from "../schema/walk-schema.ts";
import type { WorkBudget } from "../schema/work-budget.ts";

/**
 * A constraint that became a sentence in a description: the JSON pointer of its schema, its keyword, and the sentence.
 */
export type Folded = { pointer: string; keyword: string; sentence: string };

/**
 * The parts of a graph that are sent as JSON text, and the properties that may be missing, because of a provider's
 * limits. The keys are those of formulas.
 */
export type Detail = {
  /** `<key of the outer formula>>><key of the inner formula>`. */
  cuts: ReadonlySet<string>;
  /** The names of an object's properties that are sent together, as the JSON text of an object. */
  packed: ReadonlyMap<string, ReadonlySet<string>>;
  /** The names of an object's optional properties that are left out when they are absent. */
  omitted: ReadonlyMap<string, ReadonlySet<string>>;
};

export const cutOf = (outer: string, inner: string): string => `${outer}>>${inner}`;

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
  /** The parts that are sent as JSON text, because of the provider's limits. */
  detail: Detail;
  /** Keywords that the provider enforces. */
  bounds: BoundRules | undefined;
  /** The key of the formula whose codec is being built. */
  keyAtWork: () => string;
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
   * Returns the node for properties with arbitrary names, whose values have the node of `value`: a list of entries, or a
   * JSON text if the values may be anything. `words` says which properties these are. `isMap`: the object has no other
   * properties.
   */
  entriesOf: (value: Slot, words: string, isMap: boolean) => Node;
  /** The codec of any list and that of any object, which are sent as JSON text. */
  anyList: Codec;
  anyObject: Codec;
};

export const createNode = (codec: Codec, name: string, description = ""): Node => ({
  codec,
  name,
  description,
});

/**
 * Creates the shared nodes and codecs.
 *
 * @param isTight whether the provider limits the number of unions, so that null must not mean that a list is empty.
 */
export function createCommonNodes(isTight: boolean): CommonNodes {
  const anyValue = createNode({ ...createTextCodec({ what: "" }), isAny: true }, "json");
  const anyList = createTextCodec({
    what: "a list",
    kinds: new Set(["array"]),
    own: { type: "array", items: {} },
  });
  const anyObject = createTextCodec({
    what: "an object",
    kinds: new Set(["object"]),
    own: { type: "object", properties: {} },
  });
  const cached = new Map<Node, Map<string, Node>>();
  const entriesOf = (value: Slot, words: string, isMap: boolean): Node => {
    const ofValue = cached.get(value.node) ?? new Map<string, Node>();
    cached.set(value.node, ofValue);
    const key = `${isMap} ${words} ${value.note}`;
    const node = ofValue.get(key) ?? createEntriesNode(value, words, isMap);
    ofValue.set(key, node);
    return node;
  };
  const createEntriesNode = (value: Slot, words: string, isMap: boolean): Node => {
    const isNullable = !isMap && !isTight;
    if (value.node === anyValue) return createNode(createTextEntriesCodec(words, isNullable), "additional");
    const description = isMap ? words : `${words}; ${isTight ? "normally empty" : "normally null"}.`;
    return createNode(createEntriesCodec(value, isNullable), `${value.node.name}_entries`, description);
  };
  return { anyValue, entriesOf, anyList, anyObject };
}
