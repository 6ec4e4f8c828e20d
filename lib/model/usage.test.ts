import assert from "node:assert/strict";
import { test } from "node:test";
import { readUsage } from "./usage.ts";

test("the totals of a report are used", () => {
  const report = {
    inputTokens: { total: 70, noCache: 6, cacheRead: 64, cacheWrite: undefined },
    outputTokens: { total: 9, text: 6, reasoning: 3 },
  };
  const counts = { inputTokens: 70, outputTokens: 9, reasoningTokens: 3, cachedInputTokens: 64 };
  assert.deepEqual(readUsage(report), counts);
});

test("missing counts are zero", () => {
  const zeros = { inputTokens: 0, outputTokens: 0, reasoningTokens: 0, cachedInputTokens: 0 };
  assert.deepEqual(readUsage(undefined), zeros);
});
