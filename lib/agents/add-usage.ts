import type { UsageRow } from "#db/schema/index.ts";

/** Usage as single totals, without a separate `delegated` part for sub-agents. */
export type UsageSum = Omit<UsageRow, "delegated">;

const FIELDS = [
  "inputTokens",
  "outputTokens",
  "reasoningTokens",
  "cachedInputTokens",
  "modelCalls",
  "toolCalls",
  "durationMs",
] as const satisfies (keyof UsageSum)[];

export const NO_USAGE: UsageSum = {
  inputTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  cachedInputTokens: 0,
  modelCalls: 0,
  toolCalls: 0,
  durationMs: 0,
};

const combine = (one: UsageSum, other: UsageSum, sign: 1 | -1): UsageSum => {
  const sum = { ...NO_USAGE };
  for (const field of FIELDS) sum[field] = one[field] + sign * other[field];
  return sum;
};

/** Adds up usages, including the delegated part of each. */
export const addUsage = (usages: readonly (UsageRow | null | undefined)[]): UsageSum =>
  usages.reduce<UsageSum>((sum, usage) => {
    const own = usage ? combine(sum, usage, 1) : sum;
    return usage?.delegated ? combine(own, usage.delegated, 1) : own;
  }, NO_USAGE);

/** Returns the usage that was not reported yet, or undefined if all of it was reported. */
export function subtractUsage(all: UsageSum, reported: UsageSum): UsageSum | undefined {
  const remaining = combine(all, reported, -1);
  return FIELDS.some((field) => remaining[field] > 0) ? remaining : undefined;
}
