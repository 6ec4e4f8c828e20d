import assert from "node:assert/strict";
import { test } from "node:test";
import { readUsage } from "./usage.ts";

test("a step's report and a model's own report give the same counts", () => {
  const counts = { inputTokens: 70, outputTokens: 9, reasoningTokens: 3, cachedInputTokens: 64 };
  const step = {
    inputTokens: 70,
    inputTokenDetails: { noCacheTokens: 6, cacheReadTokens: 64, cacheWriteTokens: undefined },
    outputTokens: 9,
    outputTokenDetails: { textTokens: 6, reasoningTokens: 3 },
    totalTokens: 79,
  };
  const model = {
    inputTokens: { total: 70, noCache: 6, cacheRead: 64, cacheWrite: undefined },
    outputTokens: { total: 9, text: 6, reasoning: 3 },
  };
  assert.deepEqual(readUsage(step), counts);
  assert.deepEqual(readUsage(model), counts);
});

test("what is not reported is zero", () => {
  const zeros = { inputTokens: 0, outputTokens: 0, reasoningTokens: 0, cachedInputTokens: 0 };
  assert.deepEqual(readUsage(undefined), zeros);
});
