import type { LanguageModelV4Usage } from "@ai-sdk/provider";

/** Token counts of one model call; what the provider does not report is 0. */
export type ModelUsage = {
  inputTokens: number;
  outputTokens: number;
  reasoningTokens: number;
  cachedInputTokens: number;
};

/** Reads the counts that a model reports for a call. Never throws: an absent report is four zeros. */
export const readUsage = (usage: LanguageModelV4Usage | undefined): ModelUsage => ({
  inputTokens: usage?.inputTokens?.total ?? 0,
  outputTokens: usage?.outputTokens?.total ?? 0,
  reasoningTokens: usage?.outputTokens?.reasoning ?? 0,
  cachedInputTokens: usage?.inputTokens?.cacheRead ?? 0,
});
