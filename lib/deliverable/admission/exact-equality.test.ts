import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Ajv, type AnySchemaObject } from "ajv";
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import draft06MetaSchema from "ajv/dist/refs/json-schema-draft-06.json" with { type: "json" };
import AjvDraft04 from "ajv-draft-04";
import fc from "fast-check";
import { stableText } from "#lib/projection/json.ts";
import { projectStrictly } from "#lib/projection/testing/check-round-trip.ts";
import { compileSchema } from "./compile-schema.ts";
import { createSchemaChecker, type SchemaChecker } from "./create-schema-checker.ts";

const options = { strict: false, logger: false, allErrors: true } as const;
/** The drafts, each with ajv's own validator. */
const drafts = [
  ["http://json-schema.org/draft-04/schema#", new AjvDraft04(options)],
  ["http://json-schema.org/draft-06/schema#", new Ajv(options).addMetaSchema(draft06MetaSchema)],
  ["http://json-schema.org/draft-07/schema#", new Ajv(options)],
  ["https://json-schema.org/draft/2019-09/schema", new Ajv2019(options)],
  ["https://json-schema.org/draft/2020-12/schema", new Ajv2020(options)],
] as const;
const isDraft04 = ($schema: string) => $schema.includes("draft-04");

function compile(schema: AnySchemaObject): (value: unknown) => boolean {
  const compiled = compileSchema(structuredClone(schema));
  assert.ok(compiled.ok, JSON.stringify(compiled));
  return (value) => compiled.validate(value) === true;
}
const validate = (schema: AnySchemaObject, value: unknown): boolean => compile(schema)(value);

/** The names of properties that JavaScript gives every object or that have a meaning in JavaScript. */
const KEYS = ["toString", "valueOf", "constructor", "__proto__", "hasOwnProperty", "toJSON", "length"];
const keyed = (key: string, value: unknown): unknown =>
  JSON.parse(`{${JSON.stringify(key)}:${JSON.stringify(value)}}`);
/** Wraps a value, so that it is compared at the root and inside of other values. */
const wrappers: ((value: unknown) => unknown)[] = [
  (value) => value,
  (value) => [0, value],
  (value) => ({ a: [{ b: value }] }),
];

describe("values whose properties are named like members of JavaScript objects are compared as JSON", () => {
  for (const [$schema] of drafts)
    for (const key of KEYS)
      test(`${key}, ${$schema}`, () => {
        const isUnique = compile({ $schema, uniqueItems: true });
        for (const wrap of wrappers)
          for (const content of ["", null, { a: 1 }, [{}]]) {
            const create = () => wrap(keyed(key, content));
            const others = [wrap(keyed(key, "other")), wrap({}), wrap({ other: content }), wrap([content])];
            assert.equal(isUnique([create(), create()]), false);
            assert.equal(isUnique([create(), ...others]), true);
            const checks = [compile({ $schema, enum: [false, create(), 0] })];
            if (!isDraft04($schema)) checks.push(compile({ $schema, const: create() }));
            for (const check of checks) {
              assert.equal(check(create()), true);
              for (const other of others) assert.equal(check(other), false);
            }
          }
      });

  test("also by the meta-schemas that require different values in enum", () => {
    const compiled = compileSchema({
      $schema: drafts[0][0],
      enum: [keyed("constructor", { a: 1 }), keyed("constructor", { a: 1 })],
    });
    assert.deepEqual(compiled, {
      ok: false,
      error: "/enum must NOT have duplicate items (items ## 0 and 1 are identical)",
    });
  });
});

describe("uniqueItems", () => {
  for (const [$schema] of drafts)
    test(`compares texts that are names of JavaScript, ${$schema}`, () => {
      for (const key of KEYS) {
        const schema = { $schema, items: { type: "string" }, uniqueItems: true };
        assert.equal(validate(schema, [key, "a", key]), false, key);
        assert.equal(validate(schema, [key, "a", `${key}_`]), true, key);
      }
    });

  test("compares items of prefixItems if all further items are scalars", () => {
    const schema = { prefixItems: [{}, {}], items: { type: "string" }, uniqueItems: true };
    assert.equal(validate(schema, [{ a: 1 }, { a: 1 }, "a"]), false);
    assert.equal(validate(schema, [{ a: 1 }, { a: 2 }, "a"]), true);
  });

  test("takes a time that is linear in the number of scalars", () => {
    const texts = Array.from({ length: 200_000 }, (_, index) => `text ${index}`);
    assert.equal(validate({ uniqueItems: true }, [...texts, {}, [], 1, null]), true);
    assert.equal(validate({ uniqueItems: true }, [...texts, texts[0]]), false);
  });
});

test("an enum of many scalars distinguishes them by type", () => {
  const isListed = compile({ enum: [...Array.from({ length: 300 }, (_, index) => index), "text", null] });
  for (const value of [0, 299, "text", null]) assert.equal(isListed(value), true);
  for (const value of ["0", 300, "", false, [0], {}]) assert.equal(isListed(value), false);
});

const scalar = fc.constantFrom(null, true, false, 0, 1, 1.5, "", "0", "1", "null");
const { values: plain } = fc.letrec((tie) => ({
  values: fc.oneof(
    { maxDepth: 2 },
    scalar,
    fc.array(tie("values"), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom("a", "b"), tie("values"), { noNullPrototype: true }),
  ),
}));
const { values: special } = fc.letrec<{ values: unknown }>((tie) => ({
  values: fc.oneof(
    { maxDepth: 2 },
    scalar,
    fc.array(tie("values"), { maxLength: 2 }),
    fc.tuple(fc.constantFrom(...KEYS), tie("values")).map(([key, value]) => keyed(key, value)),
  ),
}));

describe("any value", () => {
  for (const [$schema, ajv] of drafts) {
    test(`equality is that of JSON, ${$schema}`, () => {
      fc.assert(
        fc.property(fc.array(special, { minLength: 2, maxLength: 6 }), (values) => {
          const [value, ...rest] = values.map(stableText);
          const copy = JSON.parse(JSON.stringify(values[0]));
          const others = [...new Map(values.slice(1).map((each) => [stableText(each), each])).values()];
          assert.equal(validate({ $schema, enum: others }, copy), rest.includes(value as string));
          assert.equal(validate({ $schema, enum: [values[0]] }, copy), true);
          assert.equal(
            validate({ $schema, uniqueItems: true }, values),
            new Set([value, ...rest]).size === values.length,
          );
        }),
        { numRuns: 50 },
      );
    });

    test(`errors are those of ajv, ${$schema}`, () => {
      const types = fc.constantFrom(undefined, "string", "integer", "array", ["string", "null", "number"]);
      fc.assert(
        fc.property(
          fc.array(plain, { minLength: 1, maxLength: 8 }),
          types,
          fc.boolean(),
          (list, type, isListed) => {
            const choices = [...new Map(list.map((each) => [stableText(each), each])).values()];
            const half = choices.slice(0, Math.ceil(choices.length / 2));
            const schema = {
              $schema,
              uniqueItems: true,
              minItems: 20,
              enum: [half],
              ...(!isDraft04($schema) && { const: half }),
              items: { ...(type !== undefined && { type }), ...(isListed && { enum: half }) },
            };
            const compiled = compileSchema(structuredClone(schema));
            assert.ok(compiled.ok);
            const own = ajv.compile(schema);
            for (const value of [list, half]) {
              assert.equal(compiled.validate(value), own(value));
              assert.deepEqual(compiled.validate.errors, own.errors);
            }
          },
        ),
        { numRuns: 40 },
      );
    });
  }
});

describe("a deliverable whose schema lists such values", () => {
  let checker: SchemaChecker;
  before(() => {
    checker = createSchemaChecker({ cpuMs: 30_000 });
  });
  after(() => checker.close());

  for (const [$schema] of drafts)
    test(`survives the round trip, and other values are refused, ${$schema}`, async () => {
      const values = KEYS.map((key) => keyed(key, { a: "" }));
      const schema = {
        $schema,
        type: "object",
        properties: {
          one: { enum: [...values, false] },
          all: { type: "array", items: { enum: values }, uniqueItems: true },
        },
        required: ["one", "all"],
        additionalProperties: false,
      };
      assert.deepEqual(await checker.admitSchema(schema), { ok: true });
      const { project } = projectStrictly(schema);
      const judge = (value: unknown) => {
        const sent = project(value);
        assert.ok(sent.ok, JSON.stringify(value));
        return checker.checkAnswer(schema, JSON.stringify(sent.value));
      };
      for (const one of [...values, false]) {
        const value = { one, all: values };
        assert.deepEqual(await judge(value), { kind: "fits", value });
      }
      const verdict = await judge({ one: false, all: [values[2], values[0], values[2]] });
      assert.deepEqual(verdict, {
        kind: "breaks",
        violations: [
          {
            path: "/all",
            rawPath: "/all",
            message: "must NOT have duplicate items (items ## 0 and 2 are identical)",
          },
        ],
      });
    });
});
