import assert from "node:assert/strict";
import { test } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { buildValue } from "./build-value.ts";
import type { PageFacts } from "./page-facts.ts";
import { samplePattern } from "./sample-pattern.ts";

const field = (role: string, name: string, required?: boolean) => ({
  role,
  name,
  text: "",
  selector: `#${name.toLowerCase()}`,
  ...(required === undefined ? {} : { required }),
});

const facts: PageFacts = {
  url: "http://127.0.0.1:3000/demo/checkout.html",
  title: "Checkout",
  fields: [
    field("textbox", "Email", true),
    field("combobox", "Country", true),
    field("checkbox", "Newsletter", false),
  ],
  headings: ["Checkout", "Delivery"],
  links: [{ role: "link", name: "Shop", text: "Shop", selector: "a.shop" }],
  buttons: ["Place order"],
  products: [
    { name: "Mug", price: "£14.00", amount: 14 },
    { name: "Pot", price: "£48.50", amount: 48.5 },
  ],
  forms: [field("form", "Checkout", false)],
  summary: "Checkout: 3 form fields read. (Built-in demo model, rule-based.)",
};
const nothing: PageFacts = {
  fields: [],
  headings: [],
  links: [],
  buttons: [],
  products: [],
  forms: [],
  summary: "No page was read.",
};

type Json = Record<string, unknown>;
const object = (properties: Json, required: string[] = Object.keys(properties), more: Json = {}): Json => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
  ...more,
});
const string = (more: Json = {}): Json => ({ type: "string", ...more });
const array = (items: unknown, more: Json = {}): Json => ({ type: "array", items, ...more });

const schemas: Record<string, Json> = {
  "title and url": object({ title: string(), url: string({ format: "uri" }) }),
  "fields as names": object({ fields: array(string()) }),
  "fields as objects": object({
    fields: array(object({ label: string(), type: string(), required: { type: "boolean" } })),
  }),
  "a role from an enum": object({
    fields: array(object({ name: string(), type: { enum: ["text", "select", "checkbox", "other"] } })),
  }),
  "nullable by anyOf": object({
    title: { anyOf: [string(), { type: "null" }] },
    author: { anyOf: [string(), { type: "null" }] },
  }),
  "nullable by type list": object({
    title: { type: ["string", "null"] },
    stars: { type: ["number", "null"] },
  }),
  "optional properties": object({ title: string(), author: string(), headings: array(string()) }, ["title"]),
  "const and enum": object({
    kind: { const: "report" },
    verdict: { enum: ["pass", "fail"] },
    step: { enum: [1, 2, null] },
  }),
  "string lengths": object({
    code: string({ minLength: 12, maxLength: 12 }),
    summary: string({ maxLength: 20 }),
    tiny: string({ maxLength: 2 }),
  }),
  "number limits": object({
    a: { type: "integer", minimum: 5, maximum: 9 },
    b: { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 0.1 },
    c: { type: "integer", multipleOf: 7, minimum: 10 },
    d: { type: "number", maximum: -3 },
    e: { type: "number", multipleOf: 0.01, exclusiveMinimum: 1 },
    f: { type: "integer", exclusiveMinimum: 3, exclusiveMaximum: 5 },
  }),
  "counts and prices": object({
    fieldCount: { type: "integer" },
    numberOfHeadings: { type: "integer" },
    price: { type: "number" },
  }),
  "products with amounts": object({
    products: array(object({ name: string(), price: { type: "number", minimum: 0 } }), { minItems: 1 }),
  }),
  "prices as texts": object({ prices: array(string({ pattern: "^£\\d+\\.\\d{2}$" })) }),
  "more items than the page has": object({ buttons: array(string(), { minItems: 4 }) }),
  "unique items": object({
    tags: array(string(), { minItems: 3, uniqueItems: true }),
    levels: array({ type: "integer" }, { minItems: 3, uniqueItems: true }),
  }),
  "unique enum items": object({
    kinds: array({ enum: ["a", "b", "c"] }, { minItems: 3, uniqueItems: true }),
  }),
  "fewer items than the page has": object({ headings: array(string(), { maxItems: 1 }) }),
  "a local definition": {
    ...object({ page: { $ref: "#/$defs/page" } }),
    $defs: { page: object({ title: string() }) },
  },
  "a recursive tree": {
    ...object({ root: { $ref: "#/$defs/node" } }),
    $defs: { node: object({ name: string(), children: array({ $ref: "#/$defs/node" }) }) },
  },
  "a recursive list": {
    ...object({ head: { $ref: "#/$defs/cell" } }),
    $defs: {
      cell: object({ value: string(), next: { anyOf: [{ $ref: "#/$defs/cell" }, { type: "null" }] } }),
    },
  },
  "an anchor": {
    ...object({ page: { $ref: "#page" } }),
    $defs: { page: { $anchor: "page", ...object({ url: string() }) } },
  },
  "a tagged union": object({
    result: {
      anyOf: [
        object({ kind: { const: "page" }, title: string() }),
        object({ kind: { const: "error" }, message: string() }),
      ],
    },
  }),
  "oneOf by const": object({
    target: {
      oneOf: [
        object({ by: { const: "css" }, selector: string() }),
        object({ by: { const: "text" }, text: string() }),
      ],
    },
  }),
  "allOf merged": {
    allOf: [
      { type: "object", properties: { title: string() }, required: ["title"] },
      { properties: { url: string({ minLength: 3 }) }, required: ["url"] },
    ],
  },
  "limits tightened by allOf": object({
    name: { allOf: [string({ minLength: 2 }), string({ minLength: 30, maxLength: 40 })] },
  }),
  "if and then": {
    type: "object",
    properties: { mode: { enum: ["a", "b"] }, extra: string() },
    required: ["mode"],
    if: { properties: { mode: { const: "a" } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { required: ["extra"] },
  },
  patterns: object({
    sku: string({ pattern: "^[A-Z]{3}-\\d{4}$" }),
    slug: string({ pattern: "^[a-z0-9]+(?:-[a-z0-9]+)*$", minLength: 5 }),
    time: string({ pattern: "^([01]\\d|2[0-3]):[0-5]\\d$" }),
    url: string({ pattern: "^https?://" }),
    word: string({ pattern: "^\\p{Lu}\\w*$" }),
    not: string({ pattern: "^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$" }),
  }),
  formats: object(
    Object.fromEntries(
      [
        "date-time",
        "date",
        "time",
        "email",
        "uri",
        "uuid",
        "ipv4",
        "ipv6",
        "hostname",
        "duration",
        "uri-reference",
        "json-pointer",
        "regex",
      ].map((format) => [format, string({ format })]),
    ),
  ),
  "a map": { type: "object", additionalProperties: { type: "integer" }, minProperties: 2 },
  "a map with named keys": {
    type: "object",
    patternProperties: { "^x-[a-z]+$": string() },
    additionalProperties: false,
    minProperties: 1,
  },
  "entries of a map": object({ entries: array(object({ key: string(), value: string() })) }),
  "a tuple": object({
    pair: { type: "array", prefixItems: [string(), { type: "integer" }], items: false, minItems: 2 },
  }),
  contains: object({ list: { type: "array", contains: { const: "needle" }, items: string() } }),
  "dependent required": {
    type: "object",
    properties: { title: string(), url: string() },
    dependentRequired: { title: ["url", "extra"] },
  },
  "a required name without a property": { type: "object", required: ["anything", "more"] },
  "without any type": {
    type: "object",
    properties: { a: {}, b: true, c: { minLength: 2 }, d: { items: string(), minItems: 1 } },
    required: ["a", "b", "c", "d"],
  },
  "free text": object({ summary: string({ minLength: 10 }), notes: string() }),
  booleans: object({
    hasNewsletter: { type: "boolean" },
    hasPhone: { type: "boolean" },
    ok: { type: "boolean" },
  }),
  "limits in a description only": object({
    fields: array(string({ description: "The label. maxLength: 3" }), {
      description: "All of them (minItems: 5).",
    }),
  }),
  "nested objects": object({
    page: object({
      meta: object({ title: string(), url: string() }),
      form: object({ fields: array(object({ name: string() })) }),
    }),
  }),
};

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);

for (const [title, schema] of Object.entries(schemas)) {
  for (const [which, found] of [
    ["a page", facts],
    ["no page", nothing],
  ] as const) {
    test(`a value from ${which} is valid: ${title}`, () => {
      const value = buildValue(schema, found);
      const validate = ajv.compile(schema);
      assert.ok(validate(value), `${JSON.stringify(value)} ${ajv.errorsText(validate.errors)}`);
    });
  }
}

test("at least 30 schemas are tested", () => assert.ok(Object.keys(schemas).length >= 30));

test("values come from the page where names match", () => {
  const read = (name: string) => buildValue(schemas[name], facts);
  assert.deepEqual(read("title and url"), { title: "Checkout", url: facts.url });
  assert.deepEqual(read("fields as names"), { fields: ["Email", "Country", "Newsletter"] });
  assert.deepEqual(read("a role from an enum"), {
    fields: [
      { name: "Email", type: "text" },
      { name: "Country", type: "select" },
      { name: "Newsletter", type: "checkbox" },
    ],
  });
  assert.deepEqual(read("counts and prices"), { fieldCount: 3, numberOfHeadings: 2, price: 14 });
  assert.deepEqual(read("products with amounts"), {
    products: [
      { name: "Mug", price: 14 },
      { name: "Pot", price: 48.5 },
    ],
  });
  assert.deepEqual(read("prices as texts"), { prices: ["£14.00", "£48.50"] });
  assert.deepEqual(read("booleans"), { hasNewsletter: true, hasPhone: false, ok: false });
  assert.deepEqual(read("nullable by anyOf"), { title: "Checkout", author: null });
  assert.deepEqual(read("optional properties"), { title: "Checkout", headings: ["Checkout", "Delivery"] });
});

test("only free text contains the label of the demo model", () => {
  assert.match(JSON.stringify(buildValue(schemas["free text"], facts)), /demo model/);
  assert.doesNotMatch(JSON.stringify(buildValue(schemas["fields as objects"], facts)), /demo model/);
});

test("a limit in a description is respected", () => {
  const value = buildValue(schemas["limits in a description only"], nothing);
  const { fields } = value as { fields: string[] }; // The cast is safe: a test above validates the value.
  assert.equal(fields.length, 5);
  for (const label of fields) assert.ok(label.length <= 3);
});

test("hostile schemas are answered in bounded time", () => {
  const circle = {
    $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } },
    ...object({ x: { $ref: "#/$defs/a" } }),
  };
  const endless = {
    allOf: [{ $ref: "#" }],
    type: "object",
    properties: { self: { $ref: "#" } },
    required: ["self"],
  };
  const wide = object(
    Object.fromEntries(
      Array.from({ length: 3_000 }, (_, number) => [
        `p${number}`,
        array(object({ q: string() }), { minItems: 50 }),
      ]),
    ),
  );
  const evil = object({ title: string({ pattern: "^(a+)+$" }), url: string({ pattern: "(x*)*y(?=z)" }) });
  // Measures CPU time, in microseconds, because other processes do not influence it.
  const before = process.threadCpuUsage();
  for (const schema of [circle, endless, wide, evil, {}, true, null, "x"]) buildValue(schema, facts);
  assert.ok(process.threadCpuUsage(before).user < 1_500_000);
});

test("the page's text is used if it matches a pattern that Unicode mode refuses", () => {
  const page = { ...facts, title: "AB-12" };
  const schema = object({ title: string({ pattern: "^[A-Z]+\\-\\d+$" }) });
  assert.deepEqual(buildValue(schema, page), { title: "AB-12" });
});

test("patterns are sampled without being run", () => {
  for (const pattern of [
    "^a{3,}b?$",
    "^(?:x|yy)+z$",
    "[\\]a]\\/",
    "^\\u0041[\\x42-C]$",
    "^(?<year>\\d{4})$",
    "^(?!foo)bar$",
    "colou?r",
    "^$",
    "^[^a]$",
    "a|b|c",
  ]) {
    const sample = samplePattern(pattern);
    assert.ok(sample !== undefined && new RegExp(pattern, "u").test(sample), `${pattern} → ${sample}`);
  }
  assert.equal(samplePattern("(a)\\1"), undefined);
  assert.equal(samplePattern("(?=x)y"), undefined);
});

test("a reference with an invalid escape and a code point that does not exist do not throw", () => {
  const schema = {
    type: "object",
    properties: { a: { $ref: "#/%" }, b: { type: "string", pattern: "^\\u{FFFFFF}$" } },
    required: ["a", "b"],
  };
  assert.doesNotThrow(() => buildValue(schema, facts));
});
