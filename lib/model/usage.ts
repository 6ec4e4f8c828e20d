import type { LanguageModelV4Usage } from "@ai-sdk/provider";
import type { LanguageModelUsage } from "ai";

/** Token counts of one model call; what the provider does not report is 0. */
export type ModelUsage = {
  inputTokens: number;
  outputTokens: number;
  reasoningTokens: number;
  cachedInputTokens: number;
};

/**
 * Reads the counts from what `streamText` reports for a step, or from what a model's own `doGenerate` reports.
 * Never throws: an absent report is four zeros.
 */
export function readUsage(usage: LanguageModelUsage | LanguageModelV4Usage | undefined): ModelUsage {
  if (usage === undefined) {
    return { inputTokens: 0, outputTokens: 0, reasoningTokens: 0, cachedInputTokens: 0 };
  }
  if ("inputTokenDetails" in usage) {
    return {
      inputTokens: usage.inputTokens ?? 0,
      outputTokens: usage.outputTokens ?? 0,
      reasoningTokens: usage.outputTokenDetails?.reasoningTokens ?? 0,
      cachedInputTokens: usage.inputTokenDetails?.cacheReadTokens ?? 0,
    };
  }
  const { inputTokens, outputTokens } = usage as LanguageModelV4Usage; // The other member of the union, by its shape.
  return {
    inputTokens: inputTokens?.total ?? 0,
    outputTokens: outputTokens?.total ?? 0,
    reasoningTokens: outputTokens?.reasoning ?? 0,
    cachedInputTokens: inputTokens?.cacheRead ?? 0,
  };
}
