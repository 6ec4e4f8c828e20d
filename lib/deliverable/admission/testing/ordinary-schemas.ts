/**
 * A typical schema of a caller. `fits` are valid values. `breaks` are invalid values, each with the JSON pointer of the
 * violation.
 */
export type OrdinarySchema = {
  name: string;
  schema: Record<string, unknown>;
  fits?: unknown[];
  breaks?: [value: unknown, path: string][];
};

const draft = {
  four: "http://json-schema.org/draft-04/schema#",
  six: "http://json-schema.org/draft-06/schema#",
  seven: "http://json-schema.org/draft-07/schema#",
  nineteen: "https://json-schema.org/draft/2019-09/schema",
  twenty: "https://json-schema.org/draft/2020-12/schema",
};
const text = { type: "string" };
const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });

export const ordinarySchemas: OrdinarySchema[] = [
  {
    name: "an object that says nothing more",
    schema: { type: "object" },
    fits: [{}, { a: [1] }],
    breaks: [
      [[], ""],
      [null, ""],
    ],
  },
  {
    name: "a checkout's fields, closed and all required",
    schema: object(
      {
        title: text,
        fields: {
          type: "array",
          items: object({ label: text, required: { type: "boolean" } }, { required: ["label"] }),
        },
      },
      { required: ["title", "fields"], additionalProperties: false },
    ),
    fits: [{ title: "Checkout", fields: [{ label: "E-mail", required: true }] }],
    breaks: [
      [{ title: "Checkout", fields: [{}] }, "/fields/0"],
      [{ title: "a", fields: [], x: 1 }, ""],
    ],
  },
  {
    name: "bounds on text, numbers and lists",
    schema: object({
      code: { type: "string", minLength: 2, maxLength: 4, pattern: "^[A-Z]+$" },
      score: { type: "integer", minimum: 1, maximum: 5 },
      ratio: { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1, multipleOf: 0.25 },
      tags: { type: "array", items: text, minItems: 1, maxItems: 3, uniqueItems: true },
    }),
    fits: [{ code: "ABC", score: 5, ratio: 0.75, tags: ["a"] }],
    breaks: [
      [{ code: "abc" }, "/code"],
      [{ score: 6 }, "/score"],
      [{ ratio: 1 }, "/ratio"],
      [{ tags: ["a", "a"] }, "/tags"],
    ],
  },
  {
    name: "prices in whole cents, whatever binary fractions make of them",
    schema: object({ price: { type: "number", multipleOf: 0.01 } }),
    fits: [{ price: 4.35 }, { price: 19.99 }, { price: 123456.78 }],
    breaks: [[{ price: 4.355 }, "/price"]],
  },
  {
    name: "an enumeration with null",
    schema: object({ grade: { enum: ["a", "b", null] } }),
    fits: [{ grade: null }],
    breaks: [[{ grade: "c" }, "/grade"]],
  },
  {
    name: "a constant",
    schema: object({ version: { const: 2 } }),
    fits: [{ version: 2 }],
    breaks: [[{ version: "2" }, "/version"]],
  },
  {
    name: "several types at once",
    schema: object({ value: { type: ["string", "null"] } }),
    fits: [{ value: null }],
    breaks: [[{ value: 1 }, "/value"]],
  },
  {
    name: "definitions used twice",
    schema: object(
      { from: { $ref: "#/$defs/money" }, to: { $ref: "#/$defs/money" } },
      { $defs: { money: object({ amount: { type: "number" } }, { required: ["amount"] }) } },
    ),
    fits: [{ from: { amount: 1 } }],
    breaks: [[{ to: {} }, "/to"]],
  },
  {
    name: "a tree that refers to its root",
    schema: object({ name: text, children: { type: "array", items: { $ref: "#" } } }, { required: ["name"] }),
    fits: [{ name: "a", children: [{ name: "b", children: [] }] }],
    breaks: [[{ name: "a", children: [{ children: [] }] }, "/children/0"]],
  },
  {
    name: "two definitions that refer to each other",
    schema: object(
      { folder: { $ref: "#/$defs/folder" } },
      {
        $defs: {
          folder: object({ files: { type: "array", items: { $ref: "#/$defs/file" } } }),
          file: object({ parent: { $ref: "#/$defs/folder" } }),
        },
      },
    ),
    fits: [{ folder: { files: [{ parent: { files: [] } }] } }],
  },
  {
    name: "a union told apart by a constant",
    schema: object({
      step: {
        oneOf: [
          object({ kind: { const: "click" }, selector: text }, { required: ["kind", "selector"] }),
          object({ kind: { const: "type" }, text }, { required: ["kind", "text"] }),
        ],
      },
    }),
    fits: [{ step: { kind: "type", text: "hello" } }],
    breaks: [[{ step: { kind: "drag" } }, "/step"]],
  },
  {
    name: "a union with OpenAPI's discriminator",
    schema: object({
      pet: {
        discriminator: { propertyName: "kind" },
        oneOf: [object({ kind: { const: "cat" } }), object({ kind: { const: "dog" } })],
      },
    }),
    fits: [{ pet: { kind: "dog" } }],
  },
  {
    name: "OpenAPI's nullable, which JSON Schema does not know",
    schema: object({ a: { type: "string", nullable: true }, b: { nullable: true } }),
    fits: [{ a: "x", b: null }],
    breaks: [[{ a: null }, "/a"]],
  },
  {
    name: "what a Python model prints",
    schema: object(
      {
        name: { title: "Name", type: "string" },
        nickname: { anyOf: [{ type: "string" }, { type: "null" }], default: null, title: "Nickname" },
        level: { $ref: "#/$defs/Level", default: "low" },
      },
      {
        $defs: { Level: { enum: ["low", "high"], title: "Level", type: "string" } },
        required: ["name"],
        title: "Person",
      },
    ),
    fits: [{ name: "A", nickname: null, level: "high" }],
    breaks: [[{ name: "A", level: "mid" }, "/level"]],
  },
  {
    name: "what a TypeScript validator prints for draft-07",
    schema: {
      $schema: draft.seven,
      ...object(
        { id: { type: "string", format: "uuid" }, at: { type: "string", format: "date-time" } },
        { required: ["id"], additionalProperties: false },
      ),
    },
    fits: [{ id: "0b8f5a34-6f6e-4c2b-9a53-2f1f5d2a9d11", at: "2026-11-20T10:00:00Z" }],
    breaks: [[{ id: "no" }, "/id"]],
  },
  {
    name: "a map of numbers",
    schema: { type: "object", additionalProperties: { type: "number" } },
    fits: [{ a: 1, b: 2 }],
    breaks: [[{ a: "1" }, "/a"]],
  },
  {
    name: "a map by pattern",
    schema: { type: "object", patternProperties: { "^x-": text }, additionalProperties: false },
    fits: [{ "x-a": "1" }],
    breaks: [
      [{ "x-a": 1 }, "/x-a"],
      [{ y: "1" }, ""],
    ],
  },
  {
    name: "named properties beside a map",
    schema: object({ total: { type: "integer" } }, { additionalProperties: text }),
    fits: [{ total: 1, a: "x" }],
    breaks: [[{ total: "1" }, "/total"]],
  },
  {
    name: "names of properties under a rule",
    schema: { type: "object", propertyNames: { pattern: "^[a-z]+$" }, minProperties: 1, maxProperties: 2 },
    fits: [{ a: 1 }],
    breaks: [
      [{ A: 1 }, ""],
      [{}, ""],
    ],
  },
  {
    name: "a tuple of 2020-12",
    schema: object({
      point: { type: "array", prefixItems: [{ type: "number" }, { type: "number" }], items: false },
    }),
    fits: [{ point: [1, 2] }],
    breaks: [
      [{ point: [1, "2"] }, "/point/1"],
      [{ point: [1, 2, 3] }, "/point"],
    ],
  },
  {
    name: "a tuple of draft-07",
    schema: {
      $schema: draft.seven,
      ...object({ point: { type: "array", items: [{ type: "number" }], additionalItems: text } }),
    },
    fits: [{ point: [1, "a"] }],
    breaks: [[{ point: [1, 2] }, "/point/1"]],
  },
  {
    name: "if, then and else",
    schema: object(
      { country: text, zip: text },
      {
        if: { properties: { country: { const: "US" } } },
        // biome-ignore lint/suspicious/noThenProperty: the keyword.
        then: { properties: { zip: { pattern: "^\\d{5}$" } } },
        else: { required: ["country"] },
      },
    ),
    fits: [{ country: "US", zip: "12345" }],
    breaks: [[{ country: "US", zip: "x" }, "/zip"]],
  },
  {
    name: "properties that depend on others",
    schema: object(
      { card: text, billing: text },
      { dependentRequired: { card: ["billing"] }, dependentSchemas: { billing: { required: ["card"] } } },
    ),
    fits: [{ card: "1", billing: "x" }],
    breaks: [[{ card: "1" }, ""]],
  },
  {
    name: "dependencies of draft-07",
    schema: { $schema: draft.seven, ...object({}, { dependencies: { a: ["b"], c: { required: ["d"] } } }) },
    fits: [{ a: 1, b: 1 }],
    breaks: [[{ c: 1 }, ""]],
  },
  {
    name: "not",
    schema: object({ name: { type: "string", not: { enum: ["admin"] } } }),
    fits: [{ name: "a" }],
    breaks: [[{ name: "admin" }, "/name"]],
  },
  {
    name: "contains with its counts",
    schema: object({
      list: { type: "array", contains: { type: "integer" }, minContains: 1, maxContains: 2 },
    }),
    fits: [{ list: ["a", 1] }],
    breaks: [[{ list: ["a"] }, "/list"]],
  },
  {
    name: "allOf of parts with unevaluatedProperties",
    schema: {
      type: "object",
      allOf: [object({ a: text }), object({ b: text })],
      unevaluatedProperties: false,
    },
    fits: [{ a: "1", b: "2" }],
    breaks: [[{ c: 1 }, ""]],
  },
  {
    name: "unevaluatedProperties in 2019-09",
    schema: { $schema: draft.nineteen, ...object({ a: text }, { unevaluatedProperties: false }) },
    fits: [{ a: "1" }],
    breaks: [[{ b: 1 }, ""]],
  },
  {
    name: "a recursive reference of 2019-09",
    schema: {
      $schema: draft.nineteen,
      ...object({ next: { $recursiveRef: "#" } }, { $recursiveAnchor: true }),
    },
    fits: [{ next: { next: {} } }],
    breaks: [[{ next: 1 }, "/next"]],
  },
  {
    name: "a dynamic reference of 2020-12",
    schema: {
      $schema: draft.twenty,
      ...object({ next: { $dynamicRef: "#node" } }, { $dynamicAnchor: "node" }),
    },
    fits: [{ next: { next: {} } }],
    breaks: [[{ next: 1 }, "/next"]],
  },
  {
    name: "a part with an id and a reference into itself",
    schema: object(
      {
        price: {
          $id: "https://shop.example/price",
          $ref: "#/$defs/money",
          $defs: { money: { type: "number" } },
        },
      },
      { $id: "https://shop.example/root" },
    ),
    fits: [{ price: 1 }],
    breaks: [[{ price: "1" }, "/price"]],
  },
  {
    name: "an id next to a reference, which draft-07 ignores",
    schema: object(
      { a: { $id: "https://shop.example/other/", $ref: "#/definitions/a" } },
      { $schema: draft.seven, $id: "https://shop.example/root", definitions: { a: text } },
    ),
    fits: [{ a: "x" }],
    breaks: [[{ a: 1 }, "/a"]],
  },
  {
    name: "a recursive reference without an anchor",
    schema: object({ next: { $recursiveRef: "#" } }, { $schema: draft.nineteen }),
    fits: [{ next: { next: {} } }],
    breaks: [[{ next: { next: 1 } }, "/next/next"]],
  },
  {
    name: "a reference to an anchor",
    schema: object({ a: { $ref: "#money" } }, { $defs: { m: { $anchor: "money", type: "number" } } }),
    fits: [{ a: 1 }],
    breaks: [[{ a: "1" }, "/a"]],
  },
  {
    name: "a bundle whose parts have ids",
    schema: object(
      { a: { $ref: "address" } },
      {
        $id: "https://shop.example/order",
        $defs: {
          address: { $id: "address", ...object({ zip: { $ref: "#/$defs/zip" } }, { $defs: { zip: text } }) },
        },
      },
    ),
    fits: [{ a: { zip: "1" } }],
    breaks: [[{ a: { zip: 1 } }, "/a/zip"]],
  },
  {
    name: "draft-04 with its id and boolean bounds",
    schema: {
      $schema: draft.four,
      id: "https://shop.example/a",
      ...object({ n: { type: "number", minimum: 0, exclusiveMinimum: true } }),
    },
    fits: [{ n: 1 }],
    breaks: [[{ n: 0 }, "/n"]],
  },
  {
    name: "draft-06 with numeric bounds",
    schema: { $schema: draft.six, ...object({ n: { exclusiveMinimum: 0 }, e: { examples: [1] } }) },
    fits: [{ n: 1 }],
    breaks: [[{ n: 0 }, "/n"]],
  },
  {
    name: "$schema over https and without its #",
    schema: { $schema: "https://json-schema.org/draft-07/schema", ...object({ a: text }) },
    fits: [{ a: "" }],
  },
  {
    name: "an id of an older draft left behind",
    schema: {
      $schema: draft.seven,
      id: "https://shop.example/a",
      ...object({ a: { id: "x", type: "string" } }),
    },
    fits: [{ a: "" }],
    breaks: [[{ a: 1 }, "/a"]],
  },
  {
    name: "siblings of $ref, void up to draft-07",
    schema: {
      $schema: draft.seven,
      ...object({ a: { $ref: "#/definitions/t", maxLength: 1 } }, { definitions: { t: text } }),
    },
    fits: [{ a: "long" }],
    breaks: [[{ a: 1 }, "/a"]],
  },
  {
    name: "siblings of $ref, in force since 2019-09",
    schema: object({ a: { $ref: "#/$defs/t", maxLength: 1 } }, { $defs: { t: text } }),
    fits: [{ a: "l" }],
    breaks: [[{ a: "long" }, "/a"]],
  },
  {
    name: "keywords and formats nobody knows",
    schema: object(
      { price: { type: "string", format: "currency", "x-order": 1, widget: { type: 5 } } },
      { "x-origin": { $ref: "nowhere" } },
    ),
    fits: [{ price: "1 €" }],
  },
  {
    name: "annotations",
    schema: object({
      a: {
        $comment: "c",
        title: "t",
        description: "d",
        default: 1,
        examples: [1],
        readOnly: true,
        deprecated: true,
        contentEncoding: "base64",
        contentMediaType: "image/png",
      },
    }),
    fits: [{ a: "x" }],
  },
  {
    name: "formats",
    schema: object({
      mail: { type: "string", format: "email" },
      page: { type: "string", format: "uri" },
      day: { type: "string", format: "date" },
    }),
    fits: [{ mail: "a@b.example", page: "https://a.example/", day: "2026-11-20" }],
    breaks: [
      [{ mail: "a" }, "/mail"],
      [{ day: "2026-13-01" }, "/day"],
    ],
  },
  {
    name: "boolean schemas",
    schema: object({ anything: true, nothing: false }),
    fits: [{ anything: [1] }],
    breaks: [[{ nothing: 1 }, "/nothing"]],
  },
  { name: "an untyped property", schema: object({ value: {} }), fits: [{ value: null }, { value: [{}] }] },
  {
    name: "a pattern that Unicode mode refuses",
    schema: object({ host: { type: "string", pattern: "^[\\w-.]+\\@x$" } }),
    fits: [{ host: "a-b.c@x" }],
    breaks: [[{ host: "a b" }, "/host"]],
  },
  {
    name: "a pattern with Unicode properties",
    schema: object({ name: { type: "string", pattern: "^\\p{Lu}\\p{L}*$" } }),
    fits: [{ name: "Örn" }],
    breaks: [[{ name: "örn" }, "/name"]],
  },
  {
    name: "length counted in characters, not in UTF-16 units",
    schema: object({ flag: { type: "string", maxLength: 1 } }),
    fits: [{ flag: "😀" }],
    breaks: [[{ flag: "ab" }, "/flag"]],
  },
  {
    name: "properties named like keywords",
    schema: object(
      { $ref: text, type: text, properties: text, $async: text, nullable: { type: "boolean" }, enum: text },
      { required: ["type"] },
    ),
    fits: [{ type: "a", $ref: "b", nullable: true }],
    breaks: [[{ type: 1 }, "/type"]],
  },
  {
    name: "properties named like an object's methods",
    schema: object(
      { constructor: text, toString: { type: "number" } },
      { required: ["toString", "hasOwnProperty"] },
    ),
    fits: [{ toString: 1, hasOwnProperty: 1 }],
    breaks: [
      [{}, ""],
      [{ constructor: 1, toString: 1, hasOwnProperty: 1 }, "/constructor"],
    ],
  },
  {
    name: "names that a pointer escapes",
    schema: object({ "a/b": object({ "c~d": text, "": text }) }),
    fits: [{ "a/b": { "c~d": "x" } }],
    breaks: [
      [{ "a/b": { "c~d": 1 } }, "/a~1b/c~0d"],
      [{ "a/b": { "": 1 } }, "/a~1b/"],
    ],
  },
  {
    name: "a reference through escaped names",
    schema: object({ a: { $ref: "#/$defs/x~1y%20z" } }, { $defs: { "x/y z": text } }),
    fits: [{ a: "" }],
    breaks: [[{ a: 1 }, "/a"]],
  },
  {
    name: "a reference into a place that is no keyword",
    schema: object(
      { a: { $ref: "#/components/schemas/A" } },
      { components: { schemas: { A: { type: "string", nullable: true } } } },
    ),
    fits: [{ a: "" }],
    breaks: [[{ a: null }, "/a"]],
  },
  {
    name: "data that looks like a schema",
    schema: object({
      a: {
        enum: [{ $ref: "#/nowhere" }, { $async: true }, { nullable: true }],
        default: { $ref: "https://a.example/" },
      },
    }),
    fits: [{ a: { nullable: true } }],
    breaks: [[{ a: {} }, "/a"]],
  },
  {
    name: "six hundred properties",
    schema: object(
      Object.fromEntries(
        Array.from({ length: 600 }, (_, index) => [`field_${index}`, { type: "string", maxLength: 80 }]),
      ),
    ),
    fits: [{ field_599: "x" }],
    breaks: [[{ field_599: 1 }, "/field_599"]],
  },
  {
    name: "thirty levels of objects",
    schema: Array.from({ length: 30 }).reduce<Record<string, unknown>>(
      (inner) => object({ in: inner }),
      object({}),
    ),
    fits: [{ in: { in: {} } }],
    breaks: [[{ in: { in: 1 } }, "/in/in"]],
  },
  {
    name: "a thousand values in an enumeration",
    schema: object({ sku: { enum: Array.from({ length: 1_000 }, (_, index) => `SKU-${index}`) } }),
    fits: [{ sku: "SKU-999" }],
    breaks: [[{ sku: "SKU-1000" }, "/sku"]],
  },
];
