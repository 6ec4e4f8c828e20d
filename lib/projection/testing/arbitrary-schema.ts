import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { isObject } from "../json.ts";

/** A schema, and a value that was generated with it. The value is almost always valid under the schema. */
export type Sample = { schema: Record<string, unknown>; value: unknown };
type Part = { schema: unknown; value: unknown };

const drafts = {
  "draft-04": "http://json-schema.org/draft-04/schema#",
  "draft-07": "http://json-schema.org/draft-07/schema#",
  "2019-09": "https://json-schema.org/draft/2019-09/schema",
  "2020-12": "https://json-schema.org/draft/2020-12/schema",
};
export type DraftName = keyof typeof drafts;
export const draftNames = Object.keys(drafts) as DraftName[];

const NAMES = [
  "id",
  "name",
  "kind",
  "entries",
  "additional",
  "absent",
  "json",
  "item_0",
  "key",
  "value",
  "result",
  "a b",
  "größe",
  "x.y",
  "x_y",
  "$ref",
  "@type",
  "",
  "__proto__",
  "constructor",
  "toString",
  "valueOf",
  "l".repeat(70),
];
const name = fc.constantFrom(...NAMES);
/** Objects whose properties are named like methods, so that comparing two of them must not call these. */
const misleading = fc.dictionary(
  fc.constantFrom("toString", "valueOf", "constructor"),
  fc.constantFrom<unknown>("", 1, null, {}, { toString: 1 }),
  { minKeys: 1, noNullPrototype: true },
);
/** JSON values. The round trip through JSON text removes values that only JavaScript has, such as minus zero. */
const json = fc
  .oneof(fc.jsonValue({ maxDepth: 2 }), misleading)
  .map((value): unknown => JSON.parse(JSON.stringify(value)));
const text = fc.string({ maxLength: 6 });

/** Builds an object from JSON text, so that `__proto__` becomes an ordinary property. */
const fromPairs = (pairs: readonly (readonly [string, unknown])[]): Record<string, unknown> =>
  JSON.parse(`{${pairs.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join()}}`);

const scalar: fc.Arbitrary<Part> = fc.oneof(
  text.map((value) => ({ schema: { type: "string", minLength: 0, description: "Some text" }, value })),
  fc.integer().map((value) => ({ schema: { type: "integer" }, value })),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => ({
    schema: { type: "number", minimum: -1.7e308 },
    value: value + 0,
  })),
  fc.option(text).map((value) => ({ schema: { type: ["string", "null"] }, value })),
  fc
    .option(fc.boolean())
    .map((value) => ({ schema: { type: ["null", "boolean", "number"], nullable: true }, value })),
  json.map((value) => ({ schema: {}, value })),
  // Values that differ only in the order of their keys are equal, and an enumeration has each value once.
  fc
    .uniqueArray(json, { minLength: 1, maxLength: 4, comparator: isDeepStrictEqual })
    .map((values) => ({ schema: { enum: values }, value: structuredClone(values[0]) })),
  fc
    .uniqueArray(misleading, { minLength: 1, maxLength: 3, comparator: isDeepStrictEqual })
    .map((values) => ({ schema: { enum: values, uniqueItems: true }, value: structuredClone(values[0]) })),
);

/** Keywords that do not change the shape of values, or have no effect at all. */
const remarks: fc.Arbitrary<Record<string, unknown>> = fc.constantFrom(
  { title: "A title" },
  { not: { enum: ["\u0000\u0000"] } },
  { default: { a: 1 }, examples: [1] },
  { maxProperties: 1_000, maxItems: 1_000, maxLength: 1_000 },
  { "x-unknown": { $ref: "#/nowhere" } },
);

/** Whether a draft ignores the keywords next to `$ref`. */
const isOld = (draft: DraftName) => draft === "draft-04" || draft === "draft-07";

/** The generators for the parts of a schema: any schema, and an object schema. Both are recursive. */
type Tie = { part: fc.Arbitrary<Part>; object: fc.Arbitrary<Part> };

/** Generates an object schema of one draft, and a value for this schema. */
export function arbitrarySample(draft: DraftName): fc.Arbitrary<Sample> {
  const { part, object } = fc.letrec<{ part: Part; object: Part }>((tie) => {
    const ties: Tie = { part: tie("part"), object: tie("object") };
    return {
      object: arbitraryObject(draft, ties),
      part: fc.oneof(
        { maxDepth: 4, depthIdentifier: "part" },
        scalar,
        ties.object,
        arbitraryList(ties),
        arbitraryTuple(draft, ties),
        arbitraryUnion(ties),
        arbitraryVariants(ties),
        arbitraryCondition(ties),
        arbitraryDependent(ties),
        arbitraryRemarked(ties),
        arbitraryReference(draft, ties),
        arbitraryConjunction(draft, ties),
      ),
    };
  });

  return fc
    .oneof(object, part)
    .filter(({ schema, value }) => isObject(schema) && isObject(value))
    .map(({ schema, value }) => {
      const $defs: [string, unknown][] = [];
      const body = define(schema, $defs);
      const definitions = fromPairs($defs);
      const whole = {
        ...(isObject(body) ? body : {}),
        $schema: drafts[draft],
        type: "object",
        $defs: definitions,
      };
      return { schema: whole, value: JSON.parse(JSON.stringify(value)) };
    });
}

/** Choices for an object schema in addition to its properties. */
type ObjectKeywords = {
  type: string | string[] | undefined;
  rest: boolean | "schema" | "pattern" | "unevaluated" | undefined;
  /** Whether the properties are divided between two branches of `allOf`. */
  isSplit: boolean;
  /** What the schema needs the additional properties of the value for. */
  needs: "count" | "names" | undefined;
};
type Member = { name: string; part: Part; isPresent: boolean; isRequired: boolean };
type Extra = [name: string, part: Part];

const objectKeywords: fc.Arbitrary<ObjectKeywords> = fc.record({
  type: fc.constantFrom("object", "object", "object", ["object", "null"], undefined),
  rest: fc.constantFrom(
    undefined,
    true,
    false,
    "schema" as const,
    "pattern" as const,
    "unevaluated" as const,
  ),
  isSplit: fc.boolean(),
  needs: fc.constantFrom(undefined, undefined, "count" as const, "names" as const),
});

function arbitraryObject(draft: DraftName, { part }: Tie): fc.Arbitrary<Part> {
  const members: fc.Arbitrary<Member[]> = fc.uniqueArray(
    fc.record({ name, part, isPresent: fc.boolean(), isRequired: fc.boolean() }),
    { maxLength: 4, selector: (member) => member.name },
  );
  const extras: fc.Arbitrary<Extra[]> = fc.uniqueArray(fc.tuple(fc.oneof(text, name), part), {
    maxLength: 2,
    selector: ([key]) => key,
  });
  return fc
    .tuple(members, extras, objectKeywords)
    .map(([all, further, keywords]) => composeObject(draft, all, further, keywords));
}

function composeObject(
  draft: DraftName,
  all: Member[],
  extras: Extra[],
  { type, rest, isSplit, needs }: ObjectKeywords,
): Part {
  const present = all.filter(({ isPresent }) => isPresent);
  const properties = all.map((member) => [member.name, member.part.schema] as const);
  const others =
    rest === false || rest === "unevaluated"
      ? []
      : extras.filter(([key]) => !all.some((member) => member.name === key));
  const required = present.filter(({ isRequired }) => isRequired).map((member) => member.name);
  // A required property that only a condition describes has the form of the condition, which other values do not fit.
  if (needs === "names") required.push(...others.map(([key]) => key).filter((key) => !NAMES.includes(key)));
  const schemas = others.map(([, other]) => other.schema);
  const value = fromPairs([
    ...present.map((member) => [member.name, member.part.value] as const),
    ...others.map(([key, other]) => [key, other.value] as const),
  ]);
  const restKeywords = {
    ...(typeof rest === "boolean" && { additionalProperties: rest }),
    ...(rest === "schema" && schemas.length > 0 && { additionalProperties: { anyOf: schemas } }),
    ...(rest === "pattern" &&
      schemas.length > 0 && {
        patternProperties: { "^": { anyOf: [...schemas, {}] }, "^zz$": { not: {} } },
      }),
    ...(rest === "unevaluated" && !isOld(draft) && { unevaluatedProperties: false }),
  };
  const schema = {
    ...(type !== undefined && { type }),
    ...(required.length > 0 && { required }),
    ...(needs === "count" && { minProperties: Object.keys(value).length }),
    ...restKeywords,
  };
  if (!isSplit || rest === false) return { schema: { ...schema, properties: fromPairs(properties) }, value };
  const half = Math.ceil(properties.length / 2);
  return {
    schema: {
      ...schema,
      allOf: [
        { properties: fromPairs(properties.slice(0, half)) },
        { properties: fromPairs(properties.slice(half)) },
      ],
    },
    value,
  };
}

/** Generates a list whose items may have any of several schemas, one of which must occur in some lists. */
function arbitraryList({ part }: Tie): fc.Arbitrary<Part> {
  return fc.tuple(fc.array(part, { maxLength: 3 }), fc.nat(3)).map(([parts, at]) => {
    const contained = parts[at];
    return {
      schema: {
        type: "array",
        ...(parts.length > 0 && { items: { anyOf: parts.map(({ schema }) => schema) } }),
        ...(contained && { contains: contained.schema }),
      },
      value: parts.map(({ value }) => value),
    };
  });
}

/** Generates a list whose first items have their own schemas. */
function arbitraryTuple(draft: DraftName, { part }: Tie): fc.Arbitrary<Part> {
  return fc
    .tuple(fc.array(part, { minLength: 1, maxLength: 3 }), fc.nat(3), fc.boolean())
    .map(([parts, length, isClosed]) => {
      const prefix = parts.map(({ schema }) => schema);
      const keywords =
        draft === "2020-12" ? (["prefixItems", "items"] as const) : (["items", "additionalItems"] as const);
      return {
        schema: {
          ...(length > 1 && { type: "array" }),
          [keywords[0]]: prefix,
          ...(isClosed && { [keywords[1]]: false }),
          minItems: Math.min(length, 1),
        },
        value: parts.slice(0, Math.max(1, length)).map(({ value }) => value),
      };
    });
}

/** Generates an `anyOf` or `oneOf`, and a value that fits one of its branches. */
function arbitraryUnion({ part }: Tie): fc.Arbitrary<Part> {
  return fc
    .tuple(part, fc.array(part, { maxLength: 3 }), fc.nat(3), fc.boolean())
    .map(([part, others, at, isOne]) => {
      const branches = others.map(({ schema }) => schema);
      branches.splice(at, 0, part.schema);
      return { schema: { [isOne ? "oneOf" : "anyOf"]: branches }, value: part.value };
    });
}

/** Generates an object schema with a `oneOf` whose branches differ in the value of the property `kind`. */
function arbitraryVariants({ object }: Tie): fc.Arbitrary<Part> {
  return fc
    .tuple(fc.array(object, { minLength: 1, maxLength: 3 }), fc.boolean())
    .map(([objects, isRequired]) => {
      const branches = objects.map(({ schema }, index) => ({
        allOf: [schema],
        properties: { kind: { enum: [`kind ${index}`] } },
        ...(isRequired && { required: ["kind"] }),
      }));
      const value = isObject(objects[0]?.value) ? { ...objects[0].value, kind: "kind 0" } : {};
      return {
        schema: { type: "object", properties: { kind: { type: "string" } }, oneOf: branches },
        value,
      };
    });
}

/** Generates a schema with `if`, `then` and `else`. */
function arbitraryCondition({ part }: Tie): fc.Arbitrary<Part> {
  return fc.tuple(part, part, fc.boolean()).map(([part, other, isThen]) => ({
    schema: isThen
      ? fromPairs([
          ["if", { not: other.schema }],
          ["then", part.schema],
          ["else", part.schema],
        ])
      : fromPairs([
          ["anyOf", [part.schema, other.schema]],
          ["if", other.schema],
          ["then", other.schema],
          ["else", part.schema],
        ]),
    value: part.value,
  }));
}

/** Generates a schema with subschemas that apply only if a property is present. */
function arbitraryDependent({ object }: Tie): fc.Arbitrary<Part> {
  return fc.tuple(object, object, name).map(([part, other, key]) => ({
    schema: {
      allOf: [part.schema],
      dependencies: fromPairs([[key, other.schema]]),
      dependentSchemas: fromPairs([[key, other.schema]]),
    },
    value: part.value,
  }));
}

/** Generates a schema with additional keywords that do not change the shape of its values. */
function arbitraryRemarked({ part }: Tie): fc.Arbitrary<Part> {
  return fc.tuple(part, remarks).map(([{ schema, value }, more]) => ({
    schema: isObject(schema) ? { ...more, ...schema } : { allOf: [schema], ...more },
    value,
  }));
}

/** Generates a reference to a schema, which `define` later moves into the definitions. */
function arbitraryReference(draft: DraftName, { part }: Tie): fc.Arbitrary<Part> {
  const besideReference: object[] = [{}, { description: "The use" }, { minProperties: 0 }];
  // Adds keywords that no value satisfies. They must have no effect, because up to draft-07 keywords next to `$ref` are
  // ignored.
  if (isOld(draft)) besideReference.push({ type: "null", enum: ["\u0000\u0000"], maxProperties: 0, not: {} });
  return fc
    .tuple(part, fc.nat(9), fc.constantFrom(...besideReference))
    .map(([{ schema, value }, id, beside]) => ({ schema: { ...beside, "define as": id, schema }, value }));
}

/** Generates an `allOf` of a schema and keywords that do not change the shape of its values. */
function arbitraryConjunction(draft: DraftName, { part }: Tie): fc.Arbitrary<Part> {
  return fc.tuple(part, remarks).map(([{ schema, value }, more]) => ({
    schema: { allOf: [schema, more, ...(isOld(draft) ? [] : [true])] },
    value,
  }));
}

/** Moves schemas that are marked with "define as" into the document's definitions. */
function define(schema: unknown, $defs: [string, unknown][]): unknown {
  if (Array.isArray(schema)) return schema.map((item) => define(item, $defs));
  if (!isObject(schema)) return schema;
  if (!Object.hasOwn(schema, "define as"))
    return fromPairs(Object.entries(schema).map(([key, part]) => [key, define(part, $defs)]));
  const { "define as": _, schema: inner, ...beside } = schema;
  const key = `def ${$defs.length}`;
  $defs.push([key, true]);
  const at = $defs.length - 1;
  $defs[at] = [key, define(inner, $defs)];
  return { ...beside, $ref: `#/$defs/${encodeURIComponent(key)}` };
}
