import type { Cost } from "./read-profile.ts";

/**
 * Prints the `count` largest costs in milliseconds, one per line. Divides them by `divisor`, such as a number of turns.
 */
export function printCosts(
  costs: readonly Cost[],
  by: "selfMs" | "totalMs",
  count: number,
  divisor = 1,
): void {
  for (const cost of costs.toSorted((a, b) => b[by] - a[by]).slice(0, count))
    console.log(`${(cost[by] / divisor).toFixed(2).padStart(8)}  ${cost.name}`);
}
