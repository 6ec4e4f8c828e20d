import { type Node, neverCodec, type Slot } from "../codec/codec.ts";
import { createTextCodec } from "../codec/text-codec.ts";
import { createUnionCodec } from "../codec/union-codec.ts";
import { createFindEntangled } from "../schema/compare-branches.ts";
import { createEvaluatedNames } from "../schema/evaluated-names.ts";
import { conjoin, type Formula, followAliases, formulaKey } from "../schema/formula.ts";
import type { BoundRules } from "../schema/read-bounds.ts";
import { createNameReading } from "../schema/reads-names.ts";
import type { SchemaIndex } from "../schema/schema-index.ts";
import type { SchemaObject } from "../schema/walk-schema.ts";
import { createWorkBudget, WorkBudgetSpent } from "../schema/work-budget.ts";
import { buildCodec } from "./build-codec.ts";
import { type Builder, createCommonNodes, createNode, cutOf, type Detail, type Folded } from "./builder.ts";
import { describeText } from "./describe-node.ts";

export type Graph = {
  root: Node;
  folded: readonly Folded[];
  /** The key of each node's formula. Nodes inside the form of another node have none. */
  keys: ReadonlyMap<Node, string>;
};

export type GraphLimits = {
  /** Limit on the total number of properties and list positions. */
  fieldsMax: number;
  /** Limit on the properties that branches of unions copy from the schema around the union. */
  copiesMax: number;
  /** Limit on the steps of the work. Default {@link STEPS_MAX}. */
  stepsMax?: number;
};

/** What the graph depends on besides the schema and the size limits: the rules of a provider. */
type GraphRules = {
  /** Whether the number of unions is limited. */
  isTight: boolean;
  bounds: BoundRules | undefined;
  detail: Detail;
};

export const WHOLE: Detail = { cuts: new Set(), packed: new Map(), omitted: new Map() };
const PLAIN_RULES: GraphRules = { isTight: false, bounds: undefined, detail: WHOLE };

/** Accepts every object. */
const OBJECT: SchemaObject = { type: "object" };

/** Maximum nesting depth of unions for the same value. Branches of deeper unions become untyped JSON. */
const BRANCH_LEVELS_MAX = 12;
const STEPS_MAX = 150_000;

/**
 * Builds the graph of a schema. For each set of schemas that apply to the same value, the graph has a node with a
 * codec.
 *
 * @param limits size limits of the graph. Parts beyond `fieldsMax` become untyped JSON. The branches of a union beyond
 * `copiesMax` do not become separate forms, but are merged into one form.
 * @param isInput whether the schema is that of a tool's input, which is one form of an object: values of other types are
 * left out, and the unions of the root are merged.
 */
export function buildGraph(
  index: SchemaIndex,
  root: SchemaObject,
  limits: GraphLimits,
  { isTight, bounds, detail }: GraphRules = PLAIN_RULES,
  isInput = false,
): Graph {
  const budget = createWorkBudget(limits.stepsMax ?? STEPS_MAX);
  const whole: Formula = {
    described: isInput ? [root, OBJECT] : [root],
    base: [],
    settled: new Set(),
    joined: new Set(),
    isTested: false,
  };
  const reading = createNameReading(index);
  const common = createCommonNodes(isTight);
  const nodes = new Map<string, { node: Node; formula: Formula; state: "new" | "open" | "done" }>();
  const open: string[] = [];
  const folded = new Map<string, Folded>();
  const never = createNode(neverCodec, "never");
  const anyValue: Slot = { node: common.anyValue, note: "" };
  const texts = new Map<string, Slot>();
  const atWork: string[] = [];
  let levels = 0;

  const build = (key: string): void => {
    const entry = nodes.get(key);
    if (entry?.state !== "new") return;
    entry.state = "open";
    levels += 1;
    atWork.push(key);
    try {
      Object.assign(entry.node, buildCodec(builder, entry.formula));
    } catch (error) {
      if (!(error instanceof WorkBudgetSpent)) throw error;
      entry.node.codec = createUnionCodec([{ slot: anyValue, label: () => "json" }]);
    }
    atWork.pop();
    levels -= 1;
    entry.state = "done";
  };

  /** Returns the node that sends the values of a formula as JSON text, if the provider's limits require it here. */
  const findText = (formula: Formula, key: string): Slot | undefined => {
    if (!detail.cuts.has(cutOf(atWork.at(-1) ?? "", key))) return undefined;
    const existing = texts.get(key);
    if (existing) return existing;
    const node = createNode(createTextCodec(describeText(index, formula)), "json");
    texts.set(key, { node, note: "" });
    return { node, note: "" };
  };

  const register = (formula: Formula): { key: string; slot: Slot } => {
    const key = formulaKey(index, formula);
    const text = findText(formula, key);
    if (text) return { key, slot: text };
    let entry = nodes.get(key);
    if (entry === undefined) {
      const [first] = formula.described;
      entry = {
        node: createNode(neverCodec, index.nameOf(first)),
        formula,
        state: "new",
      };
      nodes.set(key, entry);
      open.push(key);
    }
    return { key, slot: { node: entry.node, note: "" } };
  };

  const builder: Builder = {
    index,
    budget,
    isInput,
    merged: isInput ? whole : undefined,
    detail,
    bounds,
    keyAtWork: () => atWork.at(-1) ?? "",
    fields: createWorkBudget(limits.fieldsMax),
    copies: createWorkBudget(limits.copiesMax),
    evaluated: createEvaluatedNames(index, budget),
    reading,
    findEntangled: isInput ? () => new Set() : createFindEntangled(index, reading),
    common,
    slotOf(formula, isTested) {
      const [first] = formula?.described ?? [];
      if (formula === undefined) return { node: never, note: "" };
      if (first === undefined) return anyValue;
      // Only the form of objects differs.
      const mark = (each: Formula): Formula =>
        isTested && each.described.some(reading.inValue) ? { ...each, isTested } : each;
      if (formula.described.length > 1) return register(mark(formula)).slot;
      const { schema, words } = followAliases(index, first);
      if (schema === false) return { node: never, note: "" };
      if (schema === true || Object.keys(schema).length === 0) return { ...anyValue, note: words };
      const slot = register(mark(conjoin([schema]) ?? formula)).slot;
      return { ...slot, note: words };
    },
    buildNow(formula) {
      if (formula.described.length === 0 && formula.base.length === 0) return anyValue;
      if (levels > BRANCH_LEVELS_MAX) return anyValue;
      const { key, slot } = register(formula);
      // If the node is still being built, a union contains itself as a branch, for the same value. This branch then
      // accepts any value.
      if (nodes.get(key)?.state === "open" && slot.node === nodes.get(key)?.node) return anyValue;
      build(key);
      return slot;
    },
    note(schema, keyword, sentence) {
      const pointer = index.pointerOf(schema);
      if (pointer !== undefined) folded.set(`${pointer}/${keyword}`, { pointer, keyword, sentence });
    },
  };

  const { slot } = register(whole);
  for (let at = 0; at < open.length; at++) build(open[at] ?? "");
  const keys = new Map([...nodes].map(([key, { node }]) => [node, key]));
  return { root: slot.node, folded: [...folded.values()], keys };
}
