import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findContextTokens } from "./context-tokens.ts";

describe("findContextTokens", () => {
  for (const [modelId, tokens] of [
    ["gpt-5.4", 272_000],
    ["openai/gpt-5.4-mini", 272_000],
    ["gpt-4o-mini", 128_000],
    ["gpt-4-0613", 8_000],
    ["gpt-4.1-nano", 1_000_000],
    ["anthropic/claude-sonnet-5", 200_000],
    ["Google/Gemini-3-Pro", 1_000_000],
    ["o1-mini", 128_000],
    ["o3", 200_000],
  ] as const)
    it(`${modelId} takes ${tokens}`, () => assert.equal(findContextTokens(modelId), tokens));

  it("an unknown model takes 128,000", () => {
    assert.equal(findContextTokens("house/brand-new"), 128_000);
    assert.equal(findContextTokens(""), 128_000);
  });
});
