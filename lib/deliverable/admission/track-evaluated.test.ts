import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Validator } from "@cfworker/json-schema";
import fc from "fast-check";
import { compileSchema } from "./compile-schema.ts";

type Schema = Record<string, unknown>;

/** The keyword, as a computed name because of the lint rule against objects with a method `then`. */
const THEN = "then" as string;

const D2019 = "https://json-schema.org/draft/2019-09/schema";
const P = { unevaluatedProperties: false };
const I = { unevaluatedItems: false };
const isA1 = { properties: { a: { const: 1 } }, required: ["a"] };
const $defs = { a: { properties: { a: true } }, ifA1: { if: isA1 } };
const number = { type: "number" };

/** Schemas that mean the same in both drafts, with a value and whether the value is valid. */
const both: [title: string, schema: Schema, value: unknown, isValid: boolean][] = [
  ["if alone evaluates", { if: isA1, ...P }, { a: 1 }, true],
  ["if alone that does not match evaluates nothing", { if: isA1, ...P }, { a: 2 }, false],
  ["if with then: true", { if: isA1, [THEN]: true, ...P }, { a: 1 }, true],
  ["if with else: true that does not match", { if: isA1, else: true, ...P }, { a: 2 }, false],
  [
    "if with else that does not match",
    { if: isA1, else: { properties: { b: true } }, ...P },
    { a: 2, b: 1 },
    false,
  ],
  ["if and then evaluate", { if: isA1, [THEN]: { properties: { b: true } }, ...P }, { a: 1, b: 2 }, true],
  ["if alone in allOf", { allOf: [{ if: isA1 }], ...P }, { a: 1 }, true],
  ["if alone in allOf that does not match", { allOf: [{ if: isA1 }], ...P }, { a: 2 }, false],
  ["if alone behind $ref", { $ref: "#/$defs/ifA1", $defs, ...P }, { a: 1 }, true],
  [
    "if alone behind two $refs",
    { $ref: "#/$defs/b", $defs: { ...$defs, b: { $ref: "#/$defs/ifA1" } }, ...P },
    { a: 1 },
    true,
  ],
  ["if alone behind $ref that does not match", { $ref: "#/$defs/ifA1", $defs, ...P }, { a: 2 }, false],
  ["if in if", { if: { if: { properties: { a: true } } }, ...P }, { a: 1 }, true],
  ["not evaluates nothing", { not: { not: { properties: { a: true } } }, ...P }, { a: 1 }, false],
  ["if alone in not", { not: { if: { properties: { a: true } }, ...P } }, { a: 1 }, false],
  ["if in a nested object", { properties: { o: { if: isA1, ...P } } }, { o: { a: 1 } }, true],
  ["unevaluatedProperties in if", { if: { unevaluatedProperties: number }, ...P }, { a: 1 }, true],
  ["additionalProperties in if", { if: { additionalProperties: number }, ...P }, { a: 1 }, true],
  ["patternProperties in if", { if: { patternProperties: { "^a": number } }, ...P }, { a: 1, b: 1 }, false],
  [
    "a branch that is not valid keeps what was evaluated",
    { $ref: "#/$defs/a", $defs, anyOf: [{ required: ["z"] }, true], ...P },
    { a: 1 },
    true,
  ],
  [
    "an if that does not match keeps what was evaluated",
    {
      allOf: [{ properties: { a: true } }],
      if: { required: ["z"] },
      [THEN]: { properties: { b: true } },
      ...P,
    },
    { a: 1 },
    true,
  ],
  ["names of Object.prototype", { anyOf: [{ properties: { a: true } }], ...P }, { toString: 1 }, false],
  ["items in if", { if: { items: { const: 1 } }, ...I }, [1, 1], true],
  ["items in if that does not match", { if: { items: { const: 1 } }, ...I }, [1, 2], false],
  [
    "a branch that evaluates all items",
    { anyOf: [{ items: number }, { type: "object" }], ...I },
    [1, 2, 3],
    true,
  ],
];

/** Schemas of 2020-12. */
const newer: typeof both = [
  ["prefixItems in if", { if: { prefixItems: [{ const: 1 }] }, ...I }, [1], true],
  ["prefixItems in if that does not match", { if: { prefixItems: [{ const: 1 }] }, ...I }, [2], false],
  [
    "contains next to additionalProperties",
    { additionalProperties: true, contains: number, ...I },
    [1],
    true,
  ],
  [
    "contains next to additionalProperties, and another",
    { additionalProperties: false, contains: number, ...I },
    [1, "x"],
    false,
  ],
  ["contains next to unevaluatedProperties", { ...P, contains: number, ...I }, [1], true],
  [
    "contains next to a branch with additionalProperties",
    { allOf: [{ additionalProperties: number }], contains: number, ...I },
    [1],
    true,
  ],
  [
    "contains in a branch next to additionalProperties",
    { additionalProperties: number, anyOf: [{ contains: number }], ...I },
    [1],
    true,
  ],
  [
    "contains behind $ref next to additionalProperties",
    { $ref: "#/$defs/c", $defs: { c: { contains: number, additionalProperties: {} } }, ...I },
    [1, 2],
    true,
  ],
  [
    "additionalProperties still evaluates objects",
    { additionalProperties: number, contains: number, ...I, allOf: [{ ...P, additionalProperties: true }] },
    { a: 1 },
    true,
  ],
  [
    "additionalProperties in a branch, for an object",
    { allOf: [{ additionalProperties: number, contains: true }], ...P },
    { a: 1 },
    true,
  ],
  ["contains evaluates what matches", { contains: number, ...I }, [1, 2], true],
  ["contains evaluates nothing else", { contains: number, ...I }, [1, "x"], false],
  ["contains after prefixItems", { prefixItems: [true], contains: number, ...I }, ["x", 1], true],
  ["two contains", { allOf: [{ contains: number }, { contains: { const: "x" } }], ...I }, [1, "x"], true],
  ["contains in if", { if: { contains: { const: 1 } }, ...I }, [1, 1], true],
  ["contains in if that does not match", { if: { contains: { const: 1 } }, ...I }, [2], false],
  ["contains that is not required", { contains: number, minContains: 0, ...I }, ["x"], false],
  ["too many", { contains: number, maxContains: 1, ...I }, [1, 1], false],
  ["a schema for unevaluated items", { contains: number, unevaluatedItems: { const: "x" } }, [1, "x"], true],
  [
    "a schema for unevaluated items that does not match",
    { contains: number, unevaluatedItems: { const: "x" } },
    [1, true],
    false,
  ],
];

const older: typeof both = [
  ["contains evaluates nothing in 2019-09", { contains: number, ...I }, [1], false],
  ["items as a tuple in if", { if: { items: [{ const: 1 }] }, ...I }, [1], true],
];

describe("evaluated properties and items", () => {
  const rows = [
    ...both,
    ...newer,
    ...[...both, ...older].map(
      ([title, schema, ...rest]) => [`${title} (2019-09)`, { $schema: D2019, ...schema }, ...rest] as const,
    ),
  ];
  for (const [title, schema, value, isValid] of rows)
    test(title, () => {
      const compiled = compileSchema(structuredClone(schema));
      assert.ok(compiled.ok, JSON.stringify(compiled));
      assert.equal(compiled.validate(value), isValid);
    });

  test("an item that was not evaluated is named by its index", () => {
    const compiled = compileSchema({ contains: number, ...I });
    assert.ok(compiled.ok && !compiled.validate([1, "x"]));
    assert.deepEqual(
      compiled.validate.errors?.map(({ message }) => message),
      ["must NOT have an item at index 1"],
    );
  });
});

const leaf = fc.constantFrom<unknown>(
  true,
  {},
  false,
  { const: 1 },
  number,
  { const: "x" },
  { type: "object" },
  { minItems: 2 },
  { required: ["a"] },
  { required: ["b"] },
);

const { schemas } = fc.letrec<{ schemas: unknown }>((tie) => {
  const map = (...names: string[]) =>
    fc.dictionary(fc.constantFrom(...names), tie("schemas"), { maxKeys: 2 });
  const list = fc.array(tie("schemas"), { minLength: 1, maxLength: 2 });
  const limit = fc.constantFrom<unknown>(false, number);
  const keywords = {
    properties: map("a", "b", "c"),
    patternProperties: map("^a", "c$"),
    additionalProperties: tie("schemas"),
    items: tie("schemas"),
    contains: tie("schemas"),
    minContains: fc.constantFrom(0, 1, 2),
    if: tie("schemas"),
    [THEN]: tie("schemas"),
    else: tie("schemas"),
    not: tie("schemas"),
    allOf: list,
    anyOf: list,
    oneOf: list,
    dependentSchemas: map("a", "b"),
    $ref: fc.constant("#/$defs/shared"),
    unevaluatedProperties: limit,
    unevaluatedItems: limit,
  };
  return {
    schemas: fc.oneof(
      { maxDepth: 3 },
      leaf,
      fc.record({ ...keywords, prefixItems: list }, { requiredKeys: [] }),
    ),
  };
});
const shared = fc.constantFrom<Schema>(
  { properties: { a: true } },
  { items: number },
  { contains: { const: 1 } },
  { if: isA1 },
);
const limits = fc.constantFrom<Schema>(P, I, { ...P, ...I });
const values = fc.array(
  fc.oneof(
    fc.dictionary(fc.constantFrom("a", "b", "c", "d"), fc.constantFrom<unknown>(1, 2, "x"), { maxKeys: 3 }),
    fc.array(fc.constantFrom<unknown>(1, 2, "x"), { maxLength: 3 }),
  ),
  { minLength: 4, maxLength: 8 },
);

/** Replaces conditions by equivalent unions, because the second validator mixes up what `then` and `else` evaluated. */
function withoutConditions(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutConditions);
  if (typeof schema !== "object" || schema === null) return schema;
  const copy: Schema = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, withoutConditions(value)]),
  );
  if (copy.if === undefined) return copy;
  const { if: condition, then: consequence = true, else: alternative = true, allOf = [], ...rest } = copy;
  const union = {
    anyOf: [{ allOf: [condition, consequence] }, { allOf: [{ not: condition }, alternative] }],
  };
  return { ...rest, allOf: [...(allOf as unknown[]), union] };
}

for (const draft of ["2019-09", "2020-12"] as const)
  test(`${draft}: a second validator agrees on what is evaluated`, () => {
    fc.assert(
      fc.property(schemas, shared, limits, values, (schema, part, limit, samples) => {
        const inner = typeof schema === "object" ? schema : { allOf: [schema] };
        const $schema = `https://json-schema.org/draft/${draft}/schema`;
        const text = JSON.stringify({ $schema, ...inner, ...limit, $defs: { shared: part } });
        // The second validator knows `prefixItems` in 2019-09 too.
        fc.pre(draft === "2020-12" || !text.includes("prefixItems"));
        const compiled = compileSchema(JSON.parse(text));
        fc.pre(compiled.ok);
        const second = new Validator(withoutConditions(JSON.parse(text)) as Schema, draft, false);
        for (const value of samples)
          assert.equal(
            compiled.validate(value),
            second.validate(value).valid,
            `${text} ${JSON.stringify(value)}`,
          );
      }),
      { numRuns: 120 },
    );
  });
