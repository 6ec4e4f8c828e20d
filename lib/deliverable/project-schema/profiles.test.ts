import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { checkProfile } from "#lib/projection/profile/check-profile.ts";
import { chooseProfile, profiles, schemaForms } from "#lib/projection/profile/profile.ts";
import { checkDeclared, checkRoundTrip, projectStrictly } from "#lib/projection/testing/check-round-trip.ts";
import { providerCheckers } from "#lib/projection/testing/provider-checkers.ts";
import { realSchemas } from "#lib/projection/testing/real-schemas.ts";
import { compile, list, number, object, text } from "./schemas-testing.ts";

const strict = [profiles.openai, profiles.anthropic, profiles.gemini];
const closed = (properties: object, required: readonly string[] = Object.keys(properties)) =>
  object(properties, { required, additionalProperties: false });
const numbered = (count: number, schema: object = text) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, schema]));
const propertiesOf = (schema: unknown) => Object(Reflect.get(Object(schema), "properties"));

describe("each provider", () => {
  for (const profile of strict)
    for (const form of schemaForms)
      test(`${profile.name}, ${form}: typical schemas follow its documents, and their values survive`, () => {
        for (const { name, schema, values } of realSchemas) {
          const projection = projectStrictly(schema, { profile, form });
          assert.deepEqual(providerCheckers[profile.name]?.(projection.schema), [], name);
          const isValid = compile(schema);
          for (const value of values) checkDeclared(projection, value, isValid);
        }
      });

  test("the checker from the documents and the profile refuse the same", () => {
    const refused: [name: string, provider: "openai" | "anthropic" | "gemini", schema: object][] = [
      ["an open object", "openai", { ...closed({ a: text }), additionalProperties: true }],
      ["an open object", "anthropic", { ...closed({ a: text }), additionalProperties: true }],
      ["a missing property", "openai", closed({ a: text }, [])],
      ["25 missing properties", "anthropic", closed(numbered(25), [])],
      ["17 unions", "anthropic", closed(numbered(17, { type: ["string", "null"] }))],
      ["a list of two", "anthropic", closed({ a: list(text, { minItems: 2 }) })],
      ["a number's bound", "anthropic", closed({ a: { type: "number", minimum: 1 } })],
      ["recursion", "anthropic", closed({ a: list({ $ref: "#" }) })],
      ["recursion", "gemini", closed({ a: list({ $ref: "#" }) })],
      ["a pattern", "gemini", closed({ a: { type: "string", pattern: "^a$" } })],
      ["a constant", "gemini", closed({ a: { type: "string", const: "a" } })],
      [
        "words beside a reference",
        "gemini",
        { ...closed({ a: { $ref: "#/$defs/b", description: "x" } }), $defs: { b: text } },
      ],
      ["a tuple", "openai", closed({ a: { type: "array", prefixItems: [text], items: text } })],
    ];
    for (const [name, provider, schema] of refused) {
      assert.notDeepEqual(providerCheckers[provider]?.(schema), [], `${provider}, ${name}`);
      assert.notEqual(checkProfile(schema, profiles[provider]), undefined, `${provider}, ${name}`);
    }
  });
});

describe("a provider with limits on unions and on properties that may be missing", () => {
  const { anthropic } = profiles;

  test("gets nullable properties, then properties that may be missing, and the rest as one JSON text", () => {
    const schema = closed(numbered(50), []);
    const projection = projectStrictly(schema, { profile: anthropic });
    const names = Object.keys(propertiesOf(projection.schema));
    assert.equal(names.length, 16 + 24 + 1);
    assert.equal(names.at(-1), "more");
    assert.deepEqual(checkRoundTrip(projection, { p0: "a", p20: "b", p49: "c" }), {
      ...Object.fromEntries(
        Array.from({ length: 16 }, (_, index) => [`p${index}`, index === 0 ? "a" : null]),
      ),
      p20: "b",
      more: '{"p49":"c"}',
    });
    assert.equal(projection.toProjectedPath("/p49", { more: '{"p49":"c"}' }), "/more");
  });

  test("gets a recursive part as JSON text below its first level", () => {
    const node = object({ value: number, next: { $ref: "#/$defs/node" } });
    const schema = { ...closed({ head: { $ref: "#/$defs/node" } }), $defs: { node } };
    const projection = projectStrictly(schema, { profile: anthropic });
    const value = { head: { value: 1, next: { value: 2, next: { value: 3 } } } };
    assert.deepEqual(checkRoundTrip(projection, value), {
      head: { value: 1, next: '{"value":2,"next":{"value":3}}' },
    });
  });

  test("a text that is no JSON is a mistake of the model, not another format", () => {
    const projection = projectStrictly(closed({ a: {} }), { profile: anthropic });
    assert.deepEqual(projection.foldBack({ a: "{" }), {
      ok: false,
      isText: true,
      path: "/a",
      message: "must be JSON text",
    });
    const large = projection.foldBack({ a: "[12345678901234567890]" });
    assert.match(String("message" in large && large.message), /12345678901234567890/);
  });
});

test("a text does not become a string of another branch", () => {
  const tree = { type: "object", properties: { inner: { anyOf: [text, { $ref: "#/$defs/tree" }] } } };
  const schema = { ...closed({ tree: { $ref: "#/$defs/tree" } }), $defs: { tree } };
  for (const profile of strict) {
    const projection = projectStrictly(schema, { profile });
    checkRoundTrip(projection, { tree: { inner: "{}" } });
    checkRoundTrip(projection, { tree: { inner: { inner: { inner: "x" } } } });
  }
});

test("the profile is chosen by the model, whatever gateway it is reached through", () => {
  const chosen = {
    "gpt-5.4": "openai",
    "openai/gpt-5.4": "openai",
    demo: "openai",
    "mistral/large": "openai",
    "google/gemma-3": "openai",
    "anthropic/claude-sonnet-5": "anthropic",
    "claude-opus-4-6": "anthropic",
    "bedrock/us.anthropic.claude-sonnet-5-v1:0": "anthropic",
    "openrouter/anthropic/claude-haiku": "anthropic",
    "google/gemini-3-pro": "gemini",
    "models/gemini-2.5-flash": "gemini",
    "vertex/gemini-3-flash": "gemini",
  };
  for (const [id, profile] of Object.entries(chosen)) assert.equal(chooseProfile(id), profile, id);
});

describe("the forms of a schema", () => {
  const schema = closed({
    age: { type: "integer", minimum: 0, maximum: 150 },
    tags: list(text, { minItems: 1, maxItems: 5 }),
    day: { type: "string", format: "date" },
  });

  test("bounds are keywords where the provider's documents have them, and then words", () => {
    const { age, tags, day } = propertiesOf(projectStrictly(schema).schema);
    assert.deepEqual(
      [age, tags, day],
      [
        { type: "integer", minimum: 0, maximum: 150 },
        { type: "array", items: text, minItems: 1, maxItems: 5 },
        { type: "string", format: "date" },
      ],
    );
    const plain = propertiesOf(projectStrictly(schema, { form: "words" }).schema);
    assert.deepEqual(plain.age, { type: "integer", description: "At least 0. At most 150." });
    const atAnthropic = propertiesOf(projectStrictly(schema, { profile: profiles.anthropic }).schema);
    assert.deepEqual(atAnthropic.age, { type: "integer", description: "At least 0. At most 150." });
    assert.deepEqual(atAnthropic.tags, { ...list(text), minItems: 1, description: "At most 5 items." });
  });

  test("the compact form has few properties and levels", () => {
    const deep = closed({
      a: list(closed({ b: closed({ c: list(closed(numbered(5))) }) })),
      ...numbered(60),
    });
    const { schema } = projectStrictly(deep, { form: "compact" });
    assert.equal(Object.keys(propertiesOf(schema)).length, 41);
    assert.match(String(propertiesOf(schema).more.description), /"p59"/);
  });
});
