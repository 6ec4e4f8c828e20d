import type { RealSchema } from "./real-schema.ts";

const text = { type: "string" };
const number = { type: "number" };
const list = (items: unknown) => ({ type: "array", items });
const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });
const closed = (properties: object, more: object = {}) =>
  object(properties, { additionalProperties: false, ...more });

/** Schemas of documents that businesses exchange: invoices, feeds, resumes, events. */
export const documents: readonly RealSchema[] = [
  {
    name: "an invoice",
    schema: closed(
      {
        number: { type: "string", pattern: "^INV-\\d+$", description: "As printed" },
        issued: { type: "string", format: "date" },
        due: { type: ["string", "null"], format: "date" },
        lines: {
          ...list(
            closed(
              { sku: text, quantity: { type: "integer", minimum: 1 }, price: { $ref: "#/$defs/money" } },
              { required: ["sku", "quantity", "price"] },
            ),
          ),
          minItems: 1,
        },
        total: { $ref: "#/$defs/money", description: "With tax" },
        taxes: { type: "object", additionalProperties: { $ref: "#/$defs/money" } },
      },
      {
        required: ["number", "lines", "total"],
        $defs: {
          money: closed(
            { amount: { ...number, multipleOf: 0.01 }, currency: { enum: ["EUR", "USD"] } },
            { required: ["amount", "currency"] },
          ),
        },
      },
    ),
    values: [
      {
        number: "INV-1",
        lines: [{ sku: "a", quantity: 2, price: { amount: 4.35, currency: "EUR" } }],
        total: { amount: 8.7, currency: "EUR" },
      },
      {
        number: "INV-2",
        due: null,
        lines: [{ sku: "b", quantity: 1, price: { amount: 1, currency: "USD" } }],
        total: { amount: 1, currency: "USD" },
        taxes: { VAT: { amount: 0.19, currency: "USD" } },
      },
      {
        number: "INV-3",
        issued: "2026-01-01",
        lines: [{ sku: "b", quantity: 1, price: { amount: 1, currency: "USD" } }],
        total: { amount: 1, currency: "USD" },
        taxes: {},
      },
    ],
  },
  {
    name: "a product feed with free attributes",
    schema: object({
      products: list(
        object(
          {
            id: { type: ["string", "integer"] },
            title: text,
            price: { oneOf: [number, { type: "string", pattern: "^\\d+ [A-Z]{3}$" }] },
            attributes: {
              type: "object",
              additionalProperties: { type: ["string", "number", "boolean", "null"] },
            },
          },
          { required: ["id", "title"] },
        ),
      ),
    }),
    values: [
      {
        products: [
          {
            id: 7,
            title: "Lamp",
            price: "12 EUR",
            attributes: { colour: "red", watts: 7, dimmable: true, grade: null },
          },
        ],
      },
      { products: [{ id: "x", title: "Chair", price: 3.5, weight: { kg: 4 } }], cursor: null },
    ],
    undeclared: ["cursor", "weight"],
  },
  {
    name: "a resume, open everywhere",
    schema: {
      $schema: "http://json-schema.org/draft-07/schema#",
      ...object({
        basics: object({
          name: text,
          email: { type: "string", format: "email" },
          profiles: list(object({ network: text, url: { type: "string", format: "uri" } })),
        }),
        work: list(
          object(
            { company: text, startDate: { $ref: "#/definitions/iso8601" }, highlights: list(text) },
            { additionalProperties: true },
          ),
        ),
        skills: list(object({ name: text, keywords: list(text) })),
      }),
      definitions: { iso8601: { type: "string", pattern: "^([1-2][0-9]{3})$" } },
    },
    values: [
      {},
      {
        basics: { name: "A", label: "B", profiles: [] },
        work: [{ company: "C", startDate: "2020", x: [1, { y: null }] }],
        meta: { theme: "dark" },
      },
    ],
    undeclared: ["label", "meta"],
  },
  {
    name: "a thing of schema.org, in JSON-LD",
    schema: object(
      {
        "@context": { const: "https://schema.org" },
        "@type": { enum: ["Person", "Organization"] },
        "@id": { type: "string", format: "uri" },
        name: {
          anyOf: [text, list(text), object({ "@value": text, "@language": text }, { required: ["@value"] })],
        },
        knows: { anyOf: [{ $ref: "#" }, list({ $ref: "#" })] },
      },
      { required: ["@type"] },
    ),
    values: [
      {
        "@context": "https://schema.org",
        "@type": "Person",
        name: ["A", "B"],
        knows: { "@type": "Person", knows: [] },
      },
      {
        "@type": "Organization",
        name: { "@value": "Firma", "@language": "de", note: 1 },
        knows: [{ "@type": "Person" }],
        "schema:url": "x",
      },
    ],
    undeclared: ["note", "schema:url"],
  },
  {
    name: "texts in many languages",
    schema: object({
      title: {
        type: "object",
        patternProperties: { "^[a-z]{2}(-[A-Z]{2})?$": text },
        additionalProperties: false,
      },
      plurals: {
        type: "object",
        additionalProperties: {
          type: "object",
          propertyNames: { enum: ["one", "other"] },
          additionalProperties: text,
        },
      },
      fallback: { type: "object", properties: { en: text }, required: ["en"], additionalProperties: text },
    }),
    values: [
      {
        title: { de: "Titel", "pt-BR": "Título" },
        plurals: { cats: { one: "cat", other: "cats" } },
        fallback: { en: "a", de: "b" },
      },
      { title: {} },
    ],
  },
  {
    name: "events of one envelope, told apart by their type",
    schema: closed(
      {
        id: text,
        event: {
          oneOf: [
            {
              title: "Opened",
              ...closed({ type: { const: "opened" }, by: text }, { required: ["type", "by"] }),
            },
            { title: "Closed", ...closed({ type: { const: "closed" }, by: text }, { required: ["type"] }) },
            {
              title: "Tagged",
              ...closed({ type: { const: "tagged" }, tags: list(text) }, { required: ["type", "tags"] }),
            },
          ],
        },
      },
      { required: ["id", "event"] },
    ),
    values: [
      { id: "1", event: { type: "opened", by: "me" } },
      { id: "2", event: { type: "closed" } },
      { id: "3", event: { type: "tagged", tags: [] } },
    ],
  },
  {
    name: "a page's findings with evidence",
    schema: closed(
      {
        verdict: { enum: ["pass", "fail", null] },
        score: { type: "integer", minimum: 0, maximum: 100 },
        findings: list(
          closed(
            {
              rule: text,
              severity: { type: "string", enum: ["low", "high"], default: "low" },
              selector: { type: "string", nullable: true },
              evidence: { maxItems: 3, ...list(text) },
            },
            { required: ["rule", "severity"] },
          ),
        ),
      },
      { required: ["verdict", "findings"] },
    ),
    values: [
      { verdict: null, findings: [] },
      { verdict: "fail", score: 3, findings: [{ rule: "alt", severity: "high", evidence: ["x"] }] },
    ],
  },
  {
    name: "an address that depends on its country",
    schema: object(
      { country: { enum: ["US", "CA"] }, street: text },
      {
        required: ["country"],
        allOf: [
          JSON.parse(
            '{"if":{"properties":{"country":{"const":"US"}}},"then":{"properties":{"zip":{"type":"string","pattern":"^\\\\d{5}$"}},"required":["zip"]},"else":{"properties":{"postal":{"type":"string"}}}}',
          ),
          JSON.parse('{"if":{"required":["box"]},"then":{"properties":{"box":{"type":"integer"}}}}'),
        ],
      },
    ),
    values: [
      { country: "US", zip: "12345" },
      { country: "CA", postal: "K1A", box: 3 },
      { country: "CA", zip: ["not", "a", "zip"], street: "S" },
    ],
  },
  {
    name: "a payment that needs its partner fields",
    schema: {
      $schema: "https://json-schema.org/draft/2019-09/schema",
      ...object(
        { card: text, holder: text },
        {
          dependentRequired: { card: ["holder"] },
          dependentSchemas: { iban: { properties: { iban: { type: "string", minLength: 15 }, bic: text } } },
        },
      ),
    },
    values: [{ card: "1", holder: "A" }, { iban: "DE00123456789012", bic: "X" }, { bic: 5 }],
  },
];
