import assert from "node:assert/strict";
import { after, it } from "node:test";
import { createSchemaChecker } from "#lib/deliverable/admission/create-schema-checker.ts";
import { openMcpBench } from "#lib/mcp-client/testing.ts";

const bench = openMcpBench();
const schemas = createSchemaChecker();
after(() => Promise.all([bench.close(), schemas.close()]));

it("structured content of a tool server may be any JSON value, and is checked against any 2020-12 schema in a worker thread", async () => {
  const values: [value: unknown, schema: unknown, fits: boolean][] = [
    [7, { type: "integer", minimum: 5 }, true],
    [7, { type: "integer", minimum: 8 }, false],
    ["a", { const: "a" }, true],
    [null, { type: "null" }, true],
    [null, { type: "object" }, false],
    [false, { type: "boolean" }, true],
    [["a", 1], { prefixItems: [{ type: "string" }, { type: "number" }], items: false }, true],
    [["a", 1, 2], { prefixItems: [{ type: "string" }, { type: "number" }], items: false }, false],
    [{ a: 1, b: 2 }, { properties: { a: true }, unevaluatedProperties: false }, false],
    [{ a: 1 }, { dependentRequired: { a: ["b"] } }, false],
    [{ child: { child: {} } }, { properties: { child: { $ref: "#" } }, additionalProperties: false }, true],
    [{ child: { other: {} } }, { properties: { child: { $ref: "#" } }, additionalProperties: false }, false],
    // Schemas that cannot be used: the value is not checked.
    [1, { $ref: "https://schemas.example/a.json" }, true],
    [1, { type: "strong" }, true],
    [1, true, true],
  ];
  const tools = values.map(([value, outputSchema], index) => ({
    name: `tool_${index}`,
    outputSchema: outputSchema as never,
    answer: () => ({ content: [], structuredContent: value }),
  }));
  const server = await bench.startServer({ tools, speaks: "stateless" });
  const turn = bench.open(
    { crm: server.url },
    { checkOutput: (schema, value) => schemas.validateValue(schema, value, { isAnyRoot: true }) },
  );
  const listed = await turn.list();
  assert.equal(listed.tools.length, values.length);
  for (const [index, [value, , fits]] of values.entries()) {
    const { isError, parts } = await turn.call(`tool_${index}`, { remote: listed.tools[index] });
    const texts = parts.map((part) => (part.type === "picture" ? "" : part.text));
    assert.equal(isError, false);
    assert.deepEqual(JSON.parse(texts.at(-1) ?? ""), value);
    assert.equal(texts.length, fits ? 1 : 2, texts[0]);
    if (!fits) assert.match(texts[0] ?? "", /^\[The structured content does not fit the output schema/);
  }
});
