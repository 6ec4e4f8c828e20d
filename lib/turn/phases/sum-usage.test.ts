import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sumUsage } from "./sum-usage.ts";

const usage = { inputTokens: 10, outputTokens: 5, reasoningTokens: 2, cachedInputTokens: 1 };

describe("the usage of a run", () => {
  it("adds up all model calls, including the probe and failed calls, and counts the tool calls", () => {
    const outputs = [
      {},
      { kind: "ready", usage },
      { kind: "answered", messageId: "msg_1", calls: [], usage },
      { callId: "call_1", state: "succeeded" },
      { callId: "call_2", state: "failed" },
      { kind: "failed", failure: { message: "cut", isRetryable: true }, usage },
      { kind: "failed", failure: { message: "refused", isRetryable: false } },
    ];
    assert.deepEqual(sumUsage(outputs, new Date(1_000), new Date(4_500)), {
      inputTokens: 30,
      outputTokens: 15,
      reasoningTokens: 6,
      cachedInputTokens: 3,
      modelCalls: 3,
      toolCalls: 2,
      durationMs: 3_500,
    });
  });

  it("has no duration for a run that never started", () => {
    assert.equal(sumUsage([], null, new Date()).durationMs, 0);
  });
});
