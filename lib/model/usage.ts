import type { LanguageModelV4Usage } from "@ai-sdk/provider";

/** Token counts of one model call; 0 for counts that the provider does not report. */
export type ModelUsage = {
  inputTokens: number;
  outputTokens: number;
  reasoningTokens: number;
  cachedInputTokens: number;
};

/** Reads the counts that a model reports for a call. Never throws: without a report, all counts are 0. */
export const readUsage = (usage: LanguageModelV4Usage | undefined): ModelUsage => ({
  inputTokens: usage?.inputTokens?.total ?? 0,
  outputTokens: usage?.outputTokens?.total ?? 0,
  reasoningTokens: usage?.outputTokens?.reasoning ?? 0,
  cachedInputTokens: usage?.inputTokens?.cacheRead ?? 0,
});

/** Adds up the counts of two model calls. */
export const addUsage = (one: ModelUsage, other: ModelUsage): ModelUsage => ({
  inputTokens: one.inputTokens + other.inputTokens,
  outputTokens: one.outputTokens + other.outputTokens,
  reasoningTokens: one.reasoningTokens + other.reasoningTokens,
  cachedInputTokens: one.cachedInputTokens + other.cachedInputTokens,
});
