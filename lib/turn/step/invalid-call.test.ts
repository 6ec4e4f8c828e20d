import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { answerInvalidCalls, describeInvalidCall } from "./invalid-call.ts";

/** Wraps a validator's error as the AI SDK does: in errors whose messages repeat the input. */
const wrap = (cause: unknown) =>
  new Error("Invalid input for tool x: …", {
    cause: new Error('Type validation failed: Value: {"a":1}', { cause }),
  });
const explain = (schema: z.ZodType, input: unknown) =>
  describeInvalidCall(wrap(schema.safeParse(input).error));

describe("the description of an invalid call", () => {
  it("has a line for each problem, with the path of its field, and nothing of the input", () => {
    const schema = z.object({ agents: z.array(z.object({ name: z.string().max(3), age: z.int() })) });
    const text = explain(schema, { agents: [{ name: "much too long", age: "old" }] });
    assert.deepEqual(
      text.split("\n").map((line) => line.split(": ")[0]),
      ["agents[0].name", "agents[0].age"],
    );
    assert.ok(!text.includes("much too long"));
  });

  it("names the input itself if no single field is wrong", () => {
    assert.match(explain(z.object({ a: z.string() }), 7), /^input: .*expected object/);
  });

  it("describes the alternative of a union that comes nearest", () => {
    const schema = z.object({
      move: z.union([z.object({ url: z.string(), by: z.string() }), z.object({ url: z.string() })]),
    });
    assert.match(explain(schema, { move: { url: 7 } }), /^move\.url: /);
  });

  it("stays short, however many problems there are", () => {
    const text = explain(
      z.array(z.string()),
      Array.from({ length: 1_000 }, () => 1),
    );
    assert.match(text, /and 990 more problems$/);
    assert.ok(describeInvalidCall(new Error("x".repeat(9_000))).length < 2_100);
  });

  it("is the innermost cause if the validator names no fields", () => {
    assert.equal(describeInvalidCall(wrap(new Error("is not JSON"))), "is not JSON");
    assert.equal(describeInvalidCall("thrown text"), "the input does not fit the tool");
  });
});

it("the model gets the description of each invalid call, and no result for the others", () => {
  const calls = [
    { callId: "a", name: "x", error: "a.b: is wrong" },
    { callId: "b", name: "x" },
  ];
  assert.deepEqual(answerInvalidCalls(calls), [
    {
      role: "tool",
      content: [
        {
          type: "tool-result",
          toolCallId: "a",
          toolName: "x",
          output: { type: "error-text", value: "a.b: is wrong" },
        },
      ],
    },
  ]);
  assert.deepEqual(answerInvalidCalls(calls.slice(1)), []);
});
