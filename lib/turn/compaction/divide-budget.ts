/** What a context budget is spent on, in tokens. */
export type BudgetParts = {
  /** A prompt of more begins a compaction; what is above is room for the answer and the next results. */
  start: number;
  /** What a compaction aims at, for the whole prompt. */
  target: number;
  /** Above this the next answer may not fit: compaction then does whatever it can. */
  limit: number;
  /** A summary may be as long as this. */
  summary: number;
  /** The recent messages that stay as they are get up to this. */
  recent: number;
  /** A compaction that asks the model for a summary is to win at least this. */
  gain: number;
};

/** The part of the budget at which compaction starts. */
export const START_SHARE = 0.8;
const SUMMARY_MOST = 6_000;

/**
 * Divides a budget: compaction starts at 80 % and aims at 50 %, or, where instructions and tools alone take most of the
 * budget, at half and a quarter of what they leave. `overheadTokens` is what goes with every prompt.
 */
export function divideBudget(budgetTokens: number, overheadTokens: number): BudgetParts {
  const room = Math.max(0, budgetTokens - overheadTokens);
  const start = Math.max(budgetTokens * START_SHARE, overheadTokens + room * 0.5);
  const target = Math.max(budgetTokens * 0.5, overheadTokens + room * 0.25);
  const content = Math.max(0, target - overheadTokens);
  return {
    start,
    target,
    limit: Math.max(budgetTokens * 0.9, start),
    summary: Math.min(SUMMARY_MOST, content * 0.25),
    recent: content * 0.5,
    gain: (start - target) * 0.3,
  };
}
