/** The parts of a context budget, in tokens. */
export type BudgetParts = {
  /** A larger prompt starts a compaction; the rest of the budget is room for the answer and the next results. */
  start: number;
  /** The size of the whole prompt that a compaction aims at. */
  target: number;
  /** Above this, the next answer may not fit: the compaction then also cuts recent messages. */
  limit: number;
  /** The longest summary. */
  summary: number;
  /** The most that recent messages, which stay unchanged, may take. */
  recent: number;
  /** The least that a compaction has to save to be worth a summary call. */
  gain: number;
};

/** The part of the budget at which compaction starts. */
export const START_SHARE = 0.8;
const SUMMARY_MOST = 6_000;

/**
 * Divides a budget: a compaction starts at 80 % and aims at 50 %. If instructions and tools alone take most of the budget,
 * it starts at half and aims at a quarter of the rest. `overheadTokens`: the size of instructions and tools.
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
