/** The parts of a context budget, in tokens. */
export type BudgetParts = {
  /**
   * A prompt above this size is compacted if that saves enough. The rest of the budget is room for the answer and the
   * next results.
   */
  start: number;
  /** The size of the whole prompt that a compaction aims at. */
  target: number;
  /**
   * In a prompt above this size, the compaction also cuts recent messages if nothing else saves enough, because the
   * next answer may not fit otherwise.
   */
  limit: number;
  /** Maximum size of the summary. */
  summary: number;
  /**
   * Maximum size of the recent messages. The last assistant message and everything after it always belong to them, even
   * if they are larger. In a prompt below `limit`, recent messages stay unchanged.
   */
  recent: number;
  /**
   * Minimum saving of a compaction while the prompt is below `limit`. A compaction that saves less is not carried out.
   */
  gain: number;
};

/** A prompt of at most this share of the budget is never compacted. */
export const START_SHARE = 0.8;
const SUMMARY_MOST = 6_000;

/**
 * Divides a budget. Usually, a compaction starts at 80 % of the budget and aims at 50 %. If instructions and tools take
 * more than 60 % of the budget, a compaction starts when the messages fill half of the remaining budget. If
 * instructions and tools take more than a third, it aims at messages that fill a quarter of the remaining budget.
 *
 * @param overheadTokens the size of instructions and tools.
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
