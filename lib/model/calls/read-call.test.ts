import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { CALL_TOOL } from "#lib/catalogue/tools.ts";
import { callToolInput, listSent, type ModelTool, type ModelTools, readCall } from "./model-tool.ts";

const toolOf = (name: string, input: z.ZodType, required: string[] = []): ModelTool => ({
  input,
  definition: { type: "function", name, inputSchema: { type: "object", required } },
});

const tools: ModelTools = new Map<string, ModelTool>([
  ["look", toolOf("look", z.object({ at: z.string().optional() }))],
  [
    "publish",
    {
      ...toolOf("publish", z.object({ key: z.string(), note: z.string().optional() }), ["key"]),
      isOnDemand: true,
    },
  ],
  [CALL_TOOL, toolOf(CALL_TOOL, callToolInput)],
]);
const through = (input: unknown) => readCall(tools, CALL_TOOL, JSON.stringify(input));

describe("a call through call_tool", () => {
  it("is a call of the tool that it names, validated with the input of that tool", () => {
    const call = { name: "publish", input: { key: "main", note: null } };
    assert.deepEqual(through(call), {
      name: "publish",
      input: { key: "main" },
      written: call.input,
      via: CALL_TOOL,
    });
    const { name, input } = through({ name: "look", input: { at: "top" } });
    assert.deepEqual([name, input], ["look", { at: "top" }]);
  });

  it("may give the input as a text, or leave it out", () => {
    assert.deepEqual(through({ name: "publish", input: '{"key":"main"}' }).input, { key: "main" });
    assert.deepEqual(through({ name: "look" }).input, {});
  });

  it("has the errors of the called tool", () => {
    assert.match(through({ name: "publish", input: {} }).error?.message ?? "", /key/);
    assert.match(through({ name: "publish", input: "{" }).error?.message ?? "", /not JSON/);
    assert.match(through({ name: "publish" }).error?.message ?? "", /key/);
    const unknown = through({ name: "fly away", input: {} });
    assert.equal(unknown.name, "fly_away");
    assert.match(unknown.error?.message ?? "", /There is no tool "fly_away"\. The tools are: look, publish/);
  });

  it("is an error itself if it names no tool, or call_tool", () => {
    assert.equal(through({}).name, CALL_TOOL);
    assert.ok(through({ input: {} }).error);
    const misnamed = through({ name: "look", arguments: { at: "top" } });
    assert.match(misnamed.error?.message ?? "", /arguments/);
    const nested = through({ name: CALL_TOOL, input: { name: "look", input: {} } });
    assert.match(nested.error?.message ?? "", /cannot call itself/);
    assert.equal(nested.via, undefined);
  });
});

describe("a tool on demand", () => {
  it("is not sent, but can be called by its name", () => {
    assert.deepEqual(
      listSent(tools).map(({ definition }) => definition.name),
      ["look", CALL_TOOL],
    );
    const { name, input, via } = readCall(tools, "publish", '{"key":"main"}');
    assert.deepEqual([name, input, via], ["publish", { key: "main" }, undefined]);
  });

  it("cannot be reached through call_tool where there is no call_tool", () => {
    const few: ModelTools = new Map([...tools].filter(([name]) => name !== CALL_TOOL));
    assert.match(
      readCall(few, CALL_TOOL, '{"name":"publish","input":{"key":"main"}}').error?.message ?? "",
      /There is no tool "call_tool"/,
    );
  });
});
