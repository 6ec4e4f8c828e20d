import type { BudgetRow } from "#db/schema/index.ts";

/** Spending limits; an absent field means no limit. `usd` is in US dollars, `minutes` is working time. */
export type Budget = BudgetRow;

/** What has been spent: tokens and US dollars of model calls, and working time in milliseconds. */
export type Spend = { tokens: number; usd: number; ms: number };

export const NO_SPEND: Spend = { tokens: 0, usd: 0, ms: 0 };

export const addSpend = (one: Spend, other: Spend): Spend => ({
  tokens: one.tokens + other.tokens,
  usd: one.usd + other.usd,
  ms: one.ms + other.ms,
});

/** Whether two budgets have the same limits. */
export const isSameBudget = (one: Budget | null, other: Budget | null): boolean =>
  one?.usd === other?.usd && one?.tokens === other?.tokens && one?.minutes === other?.minutes;

/** A change of a budget. A field that is null or undefined removes the limit; an absent field keeps the limit. */
export type BudgetChange = { [Field in keyof Budget]?: number | null | undefined };

/** Applies a change to a budget. @returns the new budget; null if no limit is left. */
export function applyBudgetChange(budget: Budget | null, change: BudgetChange): Budget | null {
  const merged = { ...budget, ...change };
  const limits = Object.entries(merged).filter(([, limit]) => typeof limit === "number");
  return limits.length === 0 ? null : Object.fromEntries(limits);
}

const count = (value: number): string => value.toLocaleString("en-US", { maximumFractionDigits: 1 });
const unit = (limit: number, noun: string): string => `${count(limit)} ${limit === 1 ? noun : `${noun}s`}`;
const dollars = (value: number): string =>
  `$${value.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 4 })}`;

export const MINUTE_MS = 60_000;

/**
 * Describes an exhausted limit, such as `5,000 tokens is used up (5,120 spent)`. Returns undefined if no limit is
 * exhausted.
 *
 * @param period text to insert after the limit, such as ` a day`.
 */
export function describeExhausted(budget: Budget, spent: Spend, period = ""): string | undefined {
  const { usd, tokens, minutes } = budget;
  const spentMinutes = spent.ms / MINUTE_MS;
  if (usd !== undefined && spent.usd >= usd)
    return `${dollars(usd)}${period} is used up (${dollars(spent.usd)} spent)`;
  if (tokens !== undefined && spent.tokens >= tokens)
    return `${unit(tokens, "token")}${period} is used up (${count(spent.tokens)} spent)`;
  if (minutes !== undefined && spentMinutes >= minutes)
    return `${unit(minutes, "minute")}${period} is used up (${count(spentMinutes)} spent)`;
  return undefined;
}

/** The sentence for a budget in US dollars that was set before the model's price was removed from the settings. */
const UNPRICED =
  "The session's budget in US dollars cannot be counted, because the price of the model is not known. The turn continues when that limit is removed, or set again once MODEL_PRICES has the price.";

/**
 * Says why the turns of a session must wait for a larger budget; undefined if they may spend more.
 *
 * @param isPriced whether the price of the model is known.
 */
export function describeWait(budget: Budget | null, spent: Spend, isPriced: boolean): string | undefined {
  if (budget === null) return undefined;
  if (budget.usd !== undefined && !isPriced) return UNPRICED;
  const reached = describeExhausted(budget, spent);
  return reached && `The session's budget of ${reached}. The turn continues when the budget is raised.`;
}
