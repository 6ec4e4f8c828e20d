import { createChoiceCodec, createJsonTextCodec } from "../codec/choice-codec.ts";
import { type Codec, isNever, type Node, neverCodec, type Slot } from "../codec/codec.ts";
import { scalarCodec } from "../codec/scalar-codec.ts";
import { type Branch, createUnionCodec } from "../codec/union-codec.ts";
import { isObject, type JsonSchema, kindOf, stableText } from "../json.ts";
import { type Expansion, expandFormula, type Union } from "../schema/expand-formula.ts";
import { type Formula, followAliases } from "../schema/formula.ts";
import { intersectKinds, type Kinds, kindsOf, uniteKinds } from "../schema/kinds.ts";
import { readBounds } from "../schema/read-bounds.ts";
import type { Schema } from "../schema/schema-index.ts";
import { countCopies, hasForms, isOnlyUnion, limitsUnevaluated } from "../schema/weigh-union.ts";
import { buildForms } from "./build-forms.ts";
import { type Builder, createNode } from "./builder.ts";
import { describeNode } from "./describe-node.ts";

type Built = { codec: Codec; description: string; bounds?: JsonSchema };

const COPIES_OF_ONE_UNION_MAX = 200;

/**
 * Builds the codec and the description of the node for a formula, which is a set of schemas for the same value.
 * @throws WorkBudgetSpent
 */
export function buildCodec(builder: Builder, formula: Formula): Built {
  const expansion = expandFormula(builder.index, formula, builder.budget);
  if (expansion === undefined) return { codec: neverCodec, description: "" };
  if (expansion.values) {
    const codec = buildChoice(expansion.values);
    return { codec, description: describeNode(builder, expansion, expansion.unions) };
  }
  const union = formula === builder.merged ? undefined : pickUnion(builder, expansion);
  const joined = expansion.unions.filter((each) => each !== union);
  if (union) {
    const description = describeNode(builder, expansion, joined, { taken: union });
    return { codec: buildBranches(builder, formula, expansion, union), description };
  }

  let kinds = expansion.kinds;
  const branches = joined.map((each) => each.branches);
  for (const each of branches)
    kinds = intersectKinds(kinds, uniteKinds(each.map((branch) => kindsOf(builder.index, branch))));
  const whole = { ...expansion, soft: [...expansion.soft, ...branches.flat()] };
  const forms = buildForms(builder, whole, kinds, formula.isTested);
  const codec = combine(builder, forms);
  // Only these forms are written as a schema with the type of the values.
  const bounds = codec.isPlain ? readBounds(builder.bounds, expansion.conjuncts, kinds) : undefined;
  const description = describeNode(builder, expansion, joined, { enforced: bounds?.keywords });
  return { codec, description, ...(bounds && { bounds: bounds.schema }) };
}

/** Combines the codecs of the possible forms into one codec. If `forms` is undefined, any value is possible. */
function combine({ common }: Builder, forms: readonly Codec[] | undefined): Codec {
  if (forms === undefined)
    return createUnionCodec([{ slot: { node: common.anyValue, note: "" }, label: () => "json" }]);
  const [first] = forms;
  if (first === undefined) return neverCodec;
  return forms.length === 1 ? first : uniteForms(forms);
}

function uniteForms(forms: readonly Codec[]): Codec {
  return createUnionCodec(
    forms.map((codec) => {
      // The label is computed at first use, because a codec knows its outputs only when the graph of all nodes is
      // built.
      const label = () => [...codec.outputs().kinds][0] ?? "form";
      return { slot: { node: createNode(codec, "form"), note: "" }, label };
    }),
  );
}

/** Builds a codec for a fixed list of values. Scalars are sent unchanged, lists and objects are sent as JSON text. */
function buildChoice(values: readonly unknown[]): Codec {
  const forms: Codec[] = [];
  for (const kind of ["string", "number", "boolean"]) {
    const some = values.filter((value): value is string | number | boolean => kindOf(value) === kind);
    if (some.length > 0) forms.push(createChoiceCodec(some));
  }
  if (values.includes(null)) forms.push(scalarCodec("null"));
  const composite = values.filter((value) => typeof value === "object" && value !== null);
  if (composite.length > 0) forms.push(createJsonTextCodec(composite, stableText));
  const [first] = forms;
  return first && forms.length === 1 ? first : uniteForms(forms);
}

/**
 * Chooses the union whose branches become separate forms. The other unions are merged into each of these forms. Returns
 * undefined if no union is suitable; all unions are then merged into one form.
 */
function pickUnion(builder: Builder, expansion: Expansion): Union | undefined {
  const { conjuncts, unions, kinds } = expansion;
  if (unions.length === 0 || conjuncts.some((schema) => limitsUnevaluated(builder.index, schema)))
    return undefined;
  const each = countCopies(expansion);
  for (const union of unions) {
    const copies = each * union.branches.length;
    if (!hasForms(union, kinds) || copies > COPIES_OF_ONE_UNION_MAX) continue;
    if (!builder.copies.covers(copies)) continue;
    builder.copies.spend(copies);
    return union;
  }
  return undefined;
}

function buildBranches(builder: Builder, formula: Formula, expansion: Expansion, union: Union): Codec {
  const { index } = builder;
  const base = [...formula.base, ...formula.described];
  const settled = new Set([...formula.settled, union.key]);
  const joined = new Set([
    ...formula.joined,
    ...expansion.unions.filter((each) => each !== union).map(({ key }) => key),
  ]);
  const isPlain = isOnlyUnion(expansion, union);
  const entangled = builder.findEntangled(expansion, union);
  const branches = new Map<unknown, Branch>();
  for (const [number, branch] of union.branches.entries()) {
    const { schema } = isObject(branch) ? followAliases(index, branch) : { schema: branch };
    if (schema === false) continue;
    const described = schema === true ? [] : [schema];
    const isAlone = isPlain && isWithin(kindsOf(index, schema), expansion.kinds);
    const isTested =
      entangled.has(branch) || (formula.isTested && !(isAlone && !builder.reading.inValue(schema)));
    const slot = builder.buildNow(
      isAlone
        ? { described, base: [], settled: new Set(), joined: new Set(), isTested }
        : { described, base, settled, joined, isTested },
    );
    if (!isNever(slot.node) && !branches.has(slot.node))
      branches.set(slot.node, { slot, label: () => labelOf(builder, slot, schema, number) });
  }
  return branches.size === 0 ? neverCodec : createUnionCodec([...branches.values()]);
}

const isWithin = (kinds: Kinds, wider: Kinds): boolean =>
  [...kinds].every((kind) => wider.has(kind) || (kind === "integer" && wider.has("number")));

function labelOf({ index }: Builder, { node }: Slot, schema: Schema, number: number): string {
  const label = node.codec.label?.();
  if (label !== undefined) return label;
  if (typeof schema === "boolean") return "json";
  const title = typeof schema.title === "string" ? schema.title : undefined;
  return index.definitionName(schema) ?? title ?? findNestedLabel(node) ?? `option_${number + 1}`;
}

const LABEL_LEVELS = 3;

/** Finds a constant in the properties of an object form, such as `meta.kind`, and required ones first. */
function findNestedLabel(root: Node): string | undefined {
  let level = [root];
  for (let depth = 0; depth < LABEL_LEVELS; depth += 1) {
    const properties = level.flatMap(({ codec }) => codec.declared?.() ?? []);
    const sorted = properties.toSorted((one, other) => Number(other.isRequired) - Number(one.isRequired));
    for (const { node } of sorted) {
      const { codec } = node;
      const choices = "choices" in codec && Array.isArray(codec.choices) ? codec.choices : [];
      if (choices.length === 1 && typeof choices[0] === "string") return choices[0];
    }
    level = sorted.map(({ node }) => node);
  }
  return undefined;
}
