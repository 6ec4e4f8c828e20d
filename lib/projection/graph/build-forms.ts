import type { Codec, Slot } from "../codec/codec.ts";
import { createListCodec } from "../codec/list-codec.ts";
import { createMapCodec } from "../codec/map-codec.ts";
import { createObjectCodec, type Section } from "../codec/object-codec.ts";
import { scalarCodec } from "../codec/scalar-codec.ts";
import { createTextEntriesCodec } from "../codec/text-codec.ts";
import { createTupleCodec } from "../codec/tuple-codec.ts";
import { isObject, setOwn } from "../json.ts";
import { quotePattern } from "../schema/describe-constraints.ts";
import { collectSoft } from "../schema/evaluated-names.ts";
import type { Expansion } from "../schema/expand-formula.ts";
import { type Formula, schemaOf } from "../schema/formula.ts";
import type { Kinds } from "../schema/kinds.ts";
import { planArray } from "../schema/plan-array.ts";
import { type ObjectPlan, planObject, type SectionPlan } from "../schema/plan-object.ts";
import { quoteSchema } from "../schema/quote-schema.ts";
import { collectTested, isSilent, testsParts } from "../schema/silent-object.ts";
import type { SchemaObject } from "../schema/walk-schema.ts";
import { type Builder, createNode } from "./builder.ts";

const OBJECT_KEYWORDS = [
  "properties",
  "required",
  "additionalProperties",
  "patternProperties",
  "unevaluatedProperties",
];
const ARRAY_KEYWORDS = ["items", "prefixItems", "additionalItems"];
const POSITIONS_MAX = 500;

/**
 * Builds a codec for each JSON type that the values of an expansion may have. Returns undefined if any value is
 * possible.
 *
 * @param isTested see {@link Formula}.
 */
export function buildForms(
  builder: Builder,
  { conjuncts, soft: roots }: Expansion,
  kinds: Kinds,
  isTested: boolean,
): Codec[] | undefined {
  const { index, budget, isInput, reading } = builder;
  const soft = collectSoft(index, roots, budget);
  const isStructured =
    hasAny(conjuncts, OBJECT_KEYWORDS) ||
    hasAny(conjuncts, ARRAY_KEYWORDS) ||
    soft.schemas.some(({ properties }) => isObject(properties));
  if (!isStructured && kinds.size === 6) return undefined;
  const schemas = isInput ? undefined : collectTested(index, conjuncts, soft, budget);
  const place: Place = {
    conjuncts,
    soft: soft.schemas,
    isSilent: (plan) => schemas !== undefined && !isTested && isSilent(index, schemas, plan),
    areTested: isTested || (schemas !== undefined && testsParts(schemas, reading)),
  };
  return [...kinds].flatMap((kind): Codec[] => {
    if (kind === "object") return buildObject(builder, place);
    if (kind === "array") return buildArray(builder, place);
    return [scalarCodec(kind)];
  });
}

type Place = {
  conjuncts: readonly SchemaObject[];
  soft: readonly SchemaObject[];
  isSilent: (plan: ObjectPlan) => boolean;
  /** Whether the formulas of the parts are tested. */
  areTested: boolean;
};

function buildObject(builder: Builder, { conjuncts, soft, isSilent, areTested }: Place): Codec[] {
  const { index, evaluated, budget, common } = builder;
  const claims = conjuncts.filter((schema) => hasAny([schema], OBJECT_KEYWORDS));
  if (claims.length === 0 && soft.length === 0) return [common.anyObject];
  // The budget is spent before the work, so that the work stops once the budget is exceeded. Otherwise many nodes could
  // each repeat the work for one large definition.
  builder.fields.spend(1);
  for (const { properties } of [...claims, ...soft])
    if (isObject(properties)) builder.fields.spend(Object.keys(properties).length);
  const plan = planObject(index, { conjuncts: claims, soft }, evaluated, budget);
  if (plan === undefined) return [];
  const packed = builder.detail.packed.get(builder.keyAtWork());
  const omitted = builder.detail.omitted.get(builder.keyAtWork());
  const fields = plan.fields
    .filter(({ name }) => !packed?.has(name))
    .map((field) => ({
      ...field,
      slot: builder.slotOf(field.formula, areTested),
      isOmitted: omitted?.has(field.name) === true,
    }));
  const isMap = plan.fields.length === 0 && plan.sections.length === 1;
  const isImplied = isSilent(plan);
  const sections = plan.sections.map((section): Section => {
    const value = builder.slotOf(section.formula, areTested);
    const words = isMap ? "" : describeSection(section);
    return { node: common.entriesOf(value, words, isMap), value: value.node, isImplied };
  });
  if (packed !== undefined) sections.unshift(packFields(builder, plan, packed));
  const [only] = sections;
  if (!isMap || only === undefined) return [createObjectCodec(fields, sections)];
  return [only.value === common.anyValue ? common.anyObject : createMapCodec(only)];
}

/** Creates the section of the declared properties that are sent together, as the JSON text of an object. */
function packFields({ index, common }: Builder, { fields }: ObjectPlan, names: ReadonlySet<string>): Section {
  const properties: Record<string, unknown> = {};
  const required: string[] = [];
  for (const { name, formula, isRequired } of fields) {
    if (!names.has(name)) continue;
    setOwn(properties, name, schemaOf(formula));
    if (isRequired) required.push(name);
  }
  const words = `an object with further properties: ${quoteSchema(index, { properties, ...(required.length > 0 && { required }) }, PACKED_MAX)}`;
  const codec = createTextEntriesCodec(words, false);
  return { node: createNode(codec, "more"), value: common.anyValue, isImplied: false, names };
}

/** Maximum length of the schema in the description of packed properties. */
const PACKED_MAX = 4_000;

/**
 * Describes a list of properties without a field of their own: those whose names match a pattern, or all remaining
 * ones.
 */
function describeSection({ patterns, isRest }: SectionPlan): string {
  if (isRest) return "an object with any further properties";
  const names = patterns.slice(0, 5).map(quotePattern);
  return `an object with the properties whose name matches ${names.join(" or ")}`;
}

function buildArray(builder: Builder, { conjuncts, areTested }: Place): Codec[] {
  const claims = conjuncts.filter((schema) => hasAny([schema], [...ARRAY_KEYWORDS, "minItems"]));
  if (!hasAny(claims, ARRAY_KEYWORDS)) return [builder.common.anyList];
  const plan = planArray(builder.index, claims, builder.budget);
  if (plan === undefined) return [];
  if (plan.positions.length > POSITIONS_MAX) return [builder.common.anyList];
  builder.fields.spend(plan.positions.length);
  const slotOf = (formula: Formula | undefined): Slot => builder.slotOf(formula, areTested);
  const slots = plan.positions.map(slotOf);
  if (slots.length === 0) return [createListCodec(slotOf(plan.rest), plan.lengthMin)];
  return [createTupleCodec(slots, plan.rest && slotOf(plan.rest), plan.lengthMin)];
}

const hasAny = (schemas: readonly SchemaObject[], keywords: readonly string[]): boolean =>
  schemas.some((schema) => keywords.some((keyword) => Object.hasOwn(schema, keyword)));
