import type { Cost } from "./read-profile.ts";

/** Prints the largest costs, a line each, in milliseconds; divided by `turns` where they are of many. */
export function printCosts(costs: readonly Cost[], by: "selfMs" | "totalMs", count: number, turns = 1): void {
  for (const cost of costs.toSorted((a, b) => b[by] - a[by]).slice(0, count))
    console.log(`${(cost[by] / turns).toFixed(2).padStart(8)}  ${cost.name}`);
}
