import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { checkProfile } from "#lib/projection/profile/check-profile.ts";
import { profiles } from "#lib/projection/profile/profile.ts";
import { projectSchema } from "#lib/projection/project-schema.ts";
import { checkDeclared, checkRoundTrip, projectStrictly } from "#lib/projection/testing/check-round-trip.ts";
import { realSchemas } from "#lib/projection/testing/real-schemas.ts";
import { compileSchema } from "../admission/compile-schema.ts";
import { hostileSchemas } from "../admission/testing/hostile-schemas.ts";
import { ordinarySchemas } from "../admission/testing/ordinary-schemas.ts";

const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });
const closed = (properties: object, required = Object.keys(properties)) =>
  object(properties, { required, additionalProperties: false });
/** Projects a closed object schema whose only property, `a`, has the given schema. */
const projectProperty = (schema: unknown, required = ["a"]) =>
  projectStrictly(closed({ a: schema }, required));
const at = (projection: { schema: Record<string, unknown> }, ...keys: string[]) =>
  keys.reduce<unknown>((part, key) => Reflect.get(Object(part), key), projection.schema);

describe("typical schemas", () => {
  for (const { name, schema, values, undeclared = [] } of realSchemas)
    test(`${name}: fits, and its values survive the round trip, except for properties that it is silent about`, () => {
      const compiled = compileSchema(structuredClone(schema));
      assert.ok(compiled.ok, JSON.stringify(compiled));
      const projection = projectStrictly(schema);
      const left = values.flatMap((value) => {
        assert.ok(
          compiled.validate(value),
          `${JSON.stringify(value)}: ${JSON.stringify(compiled.validate.errors)}`,
        );
        return checkDeclared(projection, value, compiled.validate);
      });
      assert.deepEqual(left.toSorted(), undeclared);
    });

  for (const { name, schema, fits = [] } of ordinarySchemas)
    test(`${name}: fits, and its values survive`, () => {
      const projection = projectStrictly(schema);
      for (const value of fits) checkRoundTrip(projection, value);
    });
});

describe("constraints that the provider cannot enforce", () => {
  test("become sentences after the caller's own description", () => {
    const code = { type: "string", description: "The code", minLength: 2, pattern: "^a+$" };
    const projection = projectStrictly(closed({ a: code }), { form: "words" });
    assert.deepEqual(at(projection, "properties", "a"), {
      type: "string",
      description: "The code. At least 2 characters. Matches the pattern `^a+$`.",
    });
    assert.deepEqual(projection.folded, [
      { pointer: "/properties/a", keyword: "minLength", sentence: "At least 2 characters." },
      { pointer: "/properties/a", keyword: "pattern", sentence: "Matches the pattern `^a+$`." },
    ]);
  });

  const wordsOf = (schema: unknown, more: object = {}) =>
    at(
      projectStrictly({ ...closed({ a: schema }), ...more }, { form: "words" }),
      "properties",
      "a",
      "description",
    );

  test("quote patterns unchanged", () => {
    assert.equal(wordsOf({ type: "string", pattern: "^Dr .+ .*$" }), "Matches the pattern `^Dr .+ .*$`.");
    assert.equal(wordsOf({ type: "string", pattern: "$& \\d`" }), 'Matches the pattern "$& \\\\d`".');
    const map = { type: "object", patternProperties: { "^x-": { type: "string" } }, properties: { b: {} } };
    assert.match(String(wordsOf(map)), /whose name matches `\^x-` match/);
  });

  test("quote schemas without references, which the model could not follow", () => {
    const $defs = {
      code: { type: "string", maxLength: 3 },
      node: { type: "object", properties: { next: { $ref: "#/$defs/node" } } },
    };
    assert.equal(
      wordsOf({ type: "string", not: { $ref: "#/$defs/code" } }, { $defs }),
      'Does not match {"type":"string","maxLength":3}.',
    );
    assert.equal(
      wordsOf({ type: "string", not: { $ref: "#/$defs/code", minLength: 1 } }, { $defs }),
      'Does not match {"minLength":1,"allOf":[{"type":"string","maxLength":3}]}.',
    );
    assert.equal(
      wordsOf({ type: "array", contains: { $ref: "#/$defs/node" } }, { $defs }),
      'At least 1 of the items matches {"type":"object","properties":{"next":"…"}}. JSON text of a list.',
    );
    assert.equal(
      wordsOf({ type: "string", not: { const: { $ref: "#/$defs/code" } } }, { $defs }),
      'Does not match {"const":{"$ref":"#/$defs/code"}}.',
    );
  });

  test("omit a place without a valid value", () => {
    const { schema } = projectProperty({ type: "string", not: {} }, []);
    assert.deepEqual(schema.properties, {});
    assert.equal(wordsOf({ type: "string", not: false }), undefined);
    const union = { anyOf: [{ type: "string" }, { not: {} }] };
    assert.deepEqual(at(projectProperty(union), "properties", "a"), { type: "string" });
  });

  test("say never for what no value matches", () => {
    const never = { not: {} };
    const dependent = {
      type: "object",
      dependentSchemas: { old: never, new: { properties: { old: never } } },
    };
    const words = String(wordsOf(dependent));
    assert.match(words, /Never has the property "old"\./);
    assert.match(words, /With the property "new", it matches \{"properties":\{"old":"never"\}\}\./);
    // biome-ignore lint/suspicious/noThenProperty: the keyword.
    const conditional = { type: "string", if: { const: "x" }, then: never };
    assert.equal(wordsOf(conditional), 'Never matches {"const":"x"}.');
    assert.equal(wordsOf({ type: "string", not: never }), undefined);
  });

  test("quote whole rules, with fewer details if they are long", () => {
    const long = (name: string) => ({ type: "string", description: `${name} `.repeat(200), maxLength: 9 });
    const rule = { properties: { b: long("b"), c: long("c") }, required: ["b"] };
    assert.equal(
      wordsOf({ type: "object", not: rule, properties: { b: {} }, additionalProperties: true }),
      'Does not match {"properties":{"b":{"type":"string","maxLength":9},"c":{"type":"string","maxLength":9}},"required":["b"]}.',
    );
    const colours = Array.from({ length: 1_200 }, (_, index) => `colour ${index}`);
    const { description } = Object(at(projectProperty({ enum: colours }), "properties", "a"));
    assert.match(String(description), /^One of: "colour 0", .*"colour \d+", and \d+ more\.$/);
  });

  test("do not repeat a title that only says the name", () => {
    const titled = (title: string) =>
      at(projectStrictly(closed({ first_name: { type: "string", title } })), "properties", "first_name");
    assert.deepEqual(titled("First Name"), { type: "string" });
    assert.deepEqual(titled("As in the passport"), { type: "string", description: "As in the passport" });
  });

  test("exclude keywords that the draft ignores", () => {
    const $schema = "http://json-schema.org/draft-04/schema#";
    // biome-ignore lint/suspicious/noThenProperty: the keyword.
    const then = { if: { type: "string" }, then: { minLength: 5 }, const: "x" };
    assert.equal(wordsOf({ type: "string", ...then }, { $schema }), undefined);
    const projection = projectStrictly({ ...closed({ a: { type: "string", ...then } }), $schema });
    checkRoundTrip(projection, { a: "y" });
    const referred = { $ref: "#/definitions/b", type: "boolean", maxLength: 1 };
    const definitions = { b: { type: "string" } };
    assert.deepEqual(
      at(projectStrictly({ ...closed({ a: referred }), $schema, definitions }), "properties", "a"),
      { type: "string" },
    );
  });

  test("include a list of choices that is too long", () => {
    const choices = Array.from({ length: 1_500 }, (_, index) => `choice ${index}`);
    const projection = projectProperty({ enum: choices });
    assert.match(String(at(projection, "properties", "a", "description")), /^One of: "choice 0", "choice 1"/);
    checkRoundTrip(projection, { a: "choice 1499" });
  });
});

describe("the caller's root", () => {
  const words = { title: "Shop", description: "What a shop sells." };

  test("keeps its title and description, whatever its projected form is", () => {
    const forms = [
      { type: "object", properties: { name: { type: "string" } } },
      { type: "object", additionalProperties: { type: "number" } },
      { type: "object", anyOf: [{ required: ["a"] }, { required: ["b"] }] },
    ];
    for (const form of forms) {
      const { schema } = projectSchema({ ...words, ...form }, profiles.openai);
      assert.equal(schema.title, words.title);
      assert.match(String(schema.description), /^What a shop sells\./);
      assert.equal(JSON.stringify(schema).split("What a shop sells.").length, 2, "the words stand once");
      assert.equal(checkProfile(schema, profiles.openai), undefined);
    }
  });
});

test("the root's title is not repeated as its description", () => {
  for (const form of [
    { additionalProperties: false },
    { anyOf: [{ required: ["a"] }, { required: ["b"] }] },
  ]) {
    const { schema } = projectSchema({ title: "Shop", type: "object", ...form }, profiles.openai);
    assert.equal(JSON.stringify(schema).split("Shop").length, 2, JSON.stringify(schema));
  }
});

describe("absent and null", () => {
  test("null means absent if the schema does not allow null", () => {
    const projection = projectProperty({ type: "string" }, []);
    assert.deepEqual(checkRoundTrip(projection, {}), { a: null });
    assert.deepEqual(checkRoundTrip(projection, { a: "" }), { a: "" });
  });

  test("if the schema allows null, null stays null and a marker means absent", () => {
    const projection = projectProperty({ type: ["string", "null"] }, []);
    assert.deepEqual(checkRoundTrip(projection, { a: null }), { a: null });
    assert.deepEqual(checkRoundTrip(projection, {}), { a: { absent: true } });
  });

  test("an optional object that may also be null keeps its form, and its description explains how to omit it", () => {
    const schema = {
      type: ["object", "null"],
      properties: { b: { type: "string" } },
      additionalProperties: false,
    };
    const projection = projectProperty(schema, []);
    assert.deepEqual(checkRoundTrip(projection, { a: { b: "x" } }), { a: { b: "x" } });
    assert.deepEqual(at(projection, "properties", "a", "anyOf", "0", "required"), ["b"]);
  });

  test("a property that must be absent is omitted", () => {
    assert.deepEqual(at(projectProperty(false, []), "properties"), {});
  });
});

describe("maps", () => {
  const projection = projectProperty({ type: "object", additionalProperties: { type: "integer" } });

  test("travel as a list of entries; the last entry with a key wins", () => {
    assert.deepEqual(checkRoundTrip(projection, { a: { x: 1, __proto__x: 2 } }), {
      a: [
        { key: "x", value: 1 },
        { key: "__proto__x", value: 2 },
      ],
    });
    const twice = {
      a: [
        { key: "x", value: 1 },
        { key: "x", value: 2 },
      ],
    };
    assert.deepEqual(projection.foldBack(twice), { ok: true, value: { a: { x: 2 } } });
  });

  test("named properties come first in the value, in the schema's order, and win over entries", () => {
    const projection = projectStrictly({
      type: "object",
      properties: { first: { type: "number" }, second: { type: "number" }, third: { type: "number" } },
      additionalProperties: { type: "number" },
    });
    const entry = (key: string, value: number) => ({ key, value });
    const entries = [entry("other", 3), entry("second", 9), entry("third", 4), entry("other", 5)];
    const folded = projection.foldBack({ first: 1, second: 2, third: null, additional: entries });
    assert.equal(folded.ok && JSON.stringify(folded.value), '{"first":1,"second":2,"other":5,"third":4}');
  });

  test("__proto__ is a key like any other", () => {
    const value = JSON.parse('{"a":{"__proto__":5,"constructor":6}}');
    checkRoundTrip(projection, value);
    assert.equal(Object.getPrototypeOf({}).a, undefined);
  });

  test("named properties win over entries", () => {
    const open = projectStrictly(object({ a: { type: "string" } }, { additionalProperties: true }));
    const both = {
      a: "named",
      additional: '{"a":"entry","b":null}',
    };
    assert.deepEqual(open.foldBack(both), { ok: true, value: { a: "named", b: null } });
  });
});

describe("forms that look alike", () => {
  test("are distinguished by the caller's own constant", () => {
    const circle = closed({ kind: { const: "circle" }, size: { type: "number" } });
    const square = closed({ kind: { const: "square" }, size: { type: "number" } }, ["kind"]);
    const projection = projectProperty({ oneOf: [circle, square] });
    assert.deepEqual(checkRoundTrip(projection, { a: { kind: "square" } }), {
      a: { square: { kind: "square", size: null } },
    });
  });

  test("are distinguished by a constant inside them before they are numbered", () => {
    const event = (kind: string) =>
      closed({ meta: closed({ kind: { const: kind } }), at: { type: "string" } });
    const projection = projectProperty({ anyOf: [event("opened"), event("closed")] });
    const value = { a: { meta: { kind: "closed" }, at: "now" } };
    assert.deepEqual(checkRoundTrip(projection, value), { a: { closed: value.a } });
  });

  test("travel unchanged if their type or first key distinguishes them", () => {
    const projection = projectProperty({
      anyOf: [closed({ url: { type: "string" } }), closed({ file: { type: "string" } })],
    });
    assert.deepEqual(checkRoundTrip(projection, { a: { file: "x" } }), { a: { file: "x" } });
  });

  test("an empty list and an empty map are not confused", () => {
    const map = { type: "object", additionalProperties: { type: "string" } };
    const projection = projectProperty({ anyOf: [{ type: "array", items: { type: "string" } }, map] });
    checkRoundTrip(projection, { a: [] });
    checkRoundTrip(projection, { a: {} });
  });
});

describe("answers that do not fit the projected schema", () => {
  const projection = projectProperty(closed({ b: { type: "integer" } }));

  test("are refused with the place in the model's own JSON", () => {
    assert.deepEqual(projection.foldBack({ a: { b: "1" } }), {
      ok: false,
      path: "/a/b",
      message: "must be integer",
    });
    assert.deepEqual(projection.foldBack({ a: [] }), { ok: false, path: "/a", message: "must be object" });
    assert.equal(projection.foldBack(null).ok, false);
    assert.equal(projection.foldBack(undefined).ok, false);
  });

  test("fail without a stack overflow at ten thousand levels", () => {
    const nested = { type: "array", items: { $ref: "#/$defs/nested" } };
    const { foldBack, project } = projectStrictly({
      ...object({ a: { $ref: "#/$defs/nested" } }),
      $defs: { nested },
    });
    const deep = JSON.parse(`{"a":${"[".repeat(10_000)}${"]".repeat(10_000)}}`);
    const folded = foldBack(deep);
    assert.match(String("message" in folded && folded.message), /nested too deeply/);
    assert.equal(project({ a: deep.a }).ok, false);
  });
});

test("the place of a violation is translated to the model's own JSON", () => {
  const circle = closed({ kind: { const: "circle" }, size: { type: "number" } });
  const square = closed({ kind: { const: "square" }, size: { type: "number" } });
  const schema = closed({
    "a b": { type: "object", additionalProperties: { oneOf: [circle, square] } },
    pair: {
      type: "array",
      prefixItems: [{ type: "string" }, { type: "boolean" }],
      items: { type: "number" },
    },
  });
  const projection = projectStrictly(schema);
  const value = { "a b": { x: { kind: "square", size: 1 } }, pair: ["a", true, 1, 2] };
  const projected = checkRoundTrip(projection, value);
  const path = (pointer: string) => projection.toProjectedPath(pointer, projected);
  assert.equal(path(""), "");
  assert.equal(path("/a b/x/size"), "/a_b/0/value/square/size");
  assert.equal(path("/pair/1"), "/pair/item_1");
  assert.equal(path("/pair/3"), "/pair/rest/1");
  assert.equal(path("/nowhere/at/all"), "");
});

test("a provider without limits gets the schema unchanged", () => {
  const schema = object({ a: { type: "string", minLength: 2 } });
  const projection = projectSchema(schema, profiles.none);
  assert.equal(projection.schema, schema);
  assert.deepEqual(projection.foldBack({ a: "x" }), { ok: true, value: { a: "x" } });
  assert.equal(checkProfile(schema, profiles.none), undefined);
});

describe("hostile schemas", () => {
  const hostile = hostileSchemas.flatMap((each) => ("value" in each ? [each] : []));
  for (const { name, schema } of hostile)
    test(`${name}: gets a projection that fits`, () => {
      const projection = projectSchema(schema as Record<string, unknown>, profiles.openai);
      assert.equal(checkProfile(projection.schema, profiles.openai), undefined);
    });

  const many = <Item>(length: number, item: (index: number) => Item) =>
    Array.from({ length }, (_, index) => item(index));
  const shared = Object.fromEntries(many(1_000, (index) => [`p${index}`, { type: "string" }]));
  const wide = (schema: unknown) => Object.fromEntries(many(700, (index) => [`w${index}`, schema]));
  const alike: [string, Record<string, unknown>][] = [
    [
      "a large definition behind 700 wrappers",
      object(wide({ allOf: [{ $ref: "#/$defs/a" }, {}] }), { $defs: { a: object(shared) } }),
    ],
    [
      "a thousand levels of lists and objects",
      many(1_000, (level) => level).reduce<Record<string, unknown>>(
        (inner, level) => object({ [`a${level % 3}`]: { type: "array", items: inner } }),
        object({}),
      ),
    ],
    [
      "a thousand choices in one another",
      object({
        a: many(1_000, () => 0).reduce<unknown>((inner) => ({ anyOf: [inner, object({ z: {} })] }), {
          type: "string",
        }),
      }),
    ],
  ];
  for (const [name, schema] of alike)
    test(`${name}: is reduced to the limits`, () => {
      assert.equal(checkProfile(projectSchema(schema, profiles.openai).schema, profiles.openai), undefined);
    });
});
