import type { Cost } from "./read-profile.ts";

/**
 * Prints the `count` largest costs, one per line, in milliseconds. Each is divided by `divisor`, for example a number of
 * turns.
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
