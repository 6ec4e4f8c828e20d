import assert from "node:assert/strict";
import { test } from "node:test";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { DrizzleQueryError } from "drizzle-orm";
import { z } from "zod";
import { callMcpTool } from "./call-mcp-tool.ts";
import { defineMcpTool, type McpCall, mcpText, mcpValue } from "./mcp-tool.ts";
import { mcpCall, mcpTextOf } from "./tools/testing.ts";

const define = (
  execute: (input: { times: number }, call: McpCall) => Promise<CallToolResult>,
  timeoutMs = 10_000,
) =>
  defineMcpTool({
    name: "knock",
    title: "Knock",
    description: "Knocks.",
    annotations: {},
    changes: false,
    timeoutMs,
    execute,
    input: z.strictObject({ times: z.int().min(1).default(2) }),
  });

test("a tool gets its validated input with defaults; missing input counts as empty", async () => {
  const tool = define(async ({ times }) => mcpText(`knocked ${times} times`));
  assert.equal(mcpTextOf(await callMcpTool(tool, { times: 3 }, mcpCall().call)), "knocked 3 times");
  assert.equal(mcpTextOf(await callMcpTool(tool, undefined, mcpCall().call)), "knocked 2 times");
  assert.equal(mcpTextOf(await callMcpTool(tool, { times: null }, mcpCall().call)), "knocked 2 times");
});

test("invalid input is an error result that names the field, and the tool is not called", async () => {
  const tool = define(() => Promise.reject(new Error("was called")));
  for (const [input, sentence] of [
    [{ times: "3" }, "knock: times: must be a number"],
    [{ loud: true }, "knock: loud: unknown field"],
    ["3", "knock: arguments: must be an object"],
  ] as const) {
    const result = await callMcpTool(tool, input, mcpCall().call);
    assert.deepEqual([result.isError, mcpTextOf(result)], [true, sentence]);
  }
});

test("a thrown error becomes a result with its message", async () => {
  const tool = define(() => Promise.reject(new Error("the door is gone")));
  const result = await callMcpTool(tool, {}, mcpCall().call);
  assert.deepEqual([result.isError, mcpTextOf(result)], [true, "knock: the door is gone"]);
  const statement = define(() => Promise.reject(new DrizzleQueryError("select secret", [], new Error("no"))));
  assert.match(mcpTextOf(await callMcpTool(statement, {}, mcpCall().call)), /^knock: The service failed/);
});

test("a call ends at its deadline or when it is stopped, and its later outcome is ignored", async () => {
  const signals: AbortSignal[] = [];
  const late = Promise.withResolvers<CallToolResult>();
  const wait = (_input: unknown, { signal }: McpCall) => {
    signals.push(signal);
    return late.promise;
  };
  const result = await callMcpTool(define(wait, 5), {}, mcpCall().call);
  assert.deepEqual([result.isError, mcpTextOf(result)], [true, "knock timed out after 0.005 s."]);

  const stop = new AbortController();
  const stopping = callMcpTool(define(wait), {}, mcpCall(stop.signal).call);
  stop.abort();
  assert.equal(mcpTextOf(await stopping), "knock was stopped before it was over.");
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [true, true],
  );
  late.reject(new Error("nobody is there"));
});

test("a result is cut to its size limits, with a note about each cut", async () => {
  const long = "é".repeat(150_000);
  const parts: CallToolResult = {
    content: [
      { type: "text", text: long },
      { type: "text", text: long },
      { type: "image", data: "A".repeat(13 * 1_048_576), mimeType: "image/png" },
    ],
  };
  const { content } = await callMcpTool(
    define(async () => parts),
    {},
    mcpCall().call,
  );
  const [whole, cut, picture] = content.map((part) => (part.type === "text" ? part.text : part.type));
  assert.equal(whole, long);
  assert.match(cut ?? "", /^é{50000}\n\[… 100000 of 150000 characters left out …\]$/);
  assert.equal(picture, "[A picture that is too large to be sent.]");
});

test("a structured result also contains the value as text", async () => {
  const { content, structuredContent } = await callMcpTool(
    define(async () => mcpValue({ open: true })),
    {},
    mcpCall().call,
  );
  assert.deepEqual(structuredContent, { open: true });
  assert.deepEqual(JSON.parse(mcpTextOf({ content })), { open: true });
});

test("a call's resource is acquired before the deadline starts, and released at the end", async () => {
  const { call } = mcpCall();
  const steps: string[] = [];
  const tool = define(async (_input, { signal }) => {
    steps.push(signal === call.signal ? "runs without a deadline" : "runs with a deadline");
    return mcpText("knocked");
  });
  const acquire = async ({ signal }: McpCall) => {
    steps.push(signal === call.signal ? "waits without a deadline" : "waits with a deadline");
    return () => void steps.push("gives back");
  };
  assert.equal(mcpTextOf(await callMcpTool({ ...tool, acquire }, {}, call)), "knocked");
  assert.deepEqual(steps, ["waits without a deadline", "runs with a deadline", "gives back"]);

  const refused = { ...tool, acquire: () => Promise.reject(new Error("no door became free")) };
  const result = await callMcpTool(refused, {}, call);
  assert.deepEqual([result.isError, mcpTextOf(result)], [true, "knock: no door became free"]);
});
