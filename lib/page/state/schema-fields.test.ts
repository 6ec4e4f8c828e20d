import assert from "node:assert/strict";
import { test } from "node:test";
import { composeSchema, findFieldProblem, newField, newShape, readFields } from "./schema-fields.ts";

const every = {
  type: "object",
  properties: {
    title: { type: "string", description: "The headline." },
    price: { type: "number" },
    count: { type: "integer" },
    sold: { type: "boolean" },
    size: { type: "string", enum: ["S", "M"] },
    tags: { type: "array", items: { type: "string" } },
    matrix: { type: "array", items: { type: "array", items: { type: "integer" } }, description: "Rows." },
    address: {
      type: "object",
      properties: { city: { type: "string" }, zip: { type: "string", description: "Post code." } },
      required: ["city"],
    },
    fields: {
      type: "array",
      items: { type: "object", properties: { label: { type: "string" } }, required: ["label"] },
    },
    __proto__name: { type: "string" },
  },
  required: ["title", "fields"],
};

test("a schema of all types of fields is read and composed again without a change", () => {
  const fields = readFields(every);
  assert.ok(fields);
  assert.deepEqual(composeSchema(fields), every);
  assert.deepEqual(
    fields.map(({ shape }) => shape.type),
    ["text", "number", "integer", "boolean", "choice", "list", "list", "group", "list", "text"],
  );
});

test("a schema that fields cannot express is not read", () => {
  const withProperty = (property: unknown) => ({ type: "object", properties: { a: property } });
  const others = [
    ...[
      { type: "string", maxLength: 3 },
      { type: ["string", "null"] },
      { enum: ["a"] },
      { type: "string", enum: ["a, b"] },
      { type: "string", enum: [1] },
      { type: "string", enum: [] },
      { type: "array" },
      { type: "array", items: { type: "string", description: "lost" } },
      { type: "object" },
      { type: "object", properties: {} },
      { $ref: "#/$defs/a" },
      { type: "string", description: 7 },
      true,
    ].map(withProperty),
    { type: "object", properties: { a: { type: "string" } }, additionalProperties: false },
    { type: "object", properties: { a: { type: "string" } }, required: ["b"] },
    { type: "object", properties: { a: { type: "string" } }, description: "lost" },
    { type: "object", properties: { "": { type: "string" } } },
    { type: "object" },
    [],
    null,
  ];
  for (const schema of others) assert.equal(readFields(schema), undefined, JSON.stringify(schema));
});

test("the first problem of fields names the field", () => {
  const field = (name: string, more = {}) => ({ ...newField(), id: name, name, ...more });
  assert.deepEqual(findFieldProblem([field("a"), field("")]), { id: "", text: "Give the field a name." });
  assert.equal(findFieldProblem([field("a"), field("a")])?.text, "Another field has this name.");
  const choice = field("a", { shape: { type: "list", item: newShape("choice") } });
  assert.equal(findFieldProblem([choice])?.text, "Write the choices, separated by commas.");
  const group = field("a", { shape: { type: "group", fields: [] } });
  assert.equal(findFieldProblem([group])?.text, "Add a field to the group.");
  assert.equal(findFieldProblem([field("a"), field("b")]), undefined);
});
