import { median } from "./statistics.ts";
import type { Row, Target } from "./types.ts";

const isMet = (value: number, target: Target): boolean =>
  "atMost" in target ? value <= target.atMost : value >= target.atLeast;

/**
 * Formats a value below 10 with two decimals, and a larger value without decimals. On a shared machine, results are not
 * more precise.
 */
const format = (value: number): string => (Math.abs(value) >= 10 ? value.toFixed(0) : value.toFixed(2));

const describeTarget = (target: Target, unit: Row["unit"]): string =>
  "atMost" in target ? `≤ ${target.atMost} ${unit}` : `≥ ${target.atLeast} ${unit}`;

/** Formats the rows as a Markdown table with value and target. ✓ or ✗ says whether the target is met. */
export function formatTable(rows: readonly Row[]): string {
  const lines = rows.map(({ what, value, unit, target }) => {
    const verdict = target ? (isMet(value, target) ? "✓" : "✗") : "";
    return `| ${what} | ${format(value)} ${unit} | ${target ? describeTarget(target, unit) : ""} | ${verdict} |`;
  });
  return ["| measurement | result | target | |", "|---|---|---|---|", ...lines].join("\n");
}

/** Formats a row and the figures from which its value was computed, for the progress output. */
export function formatLine({ what, value, unit, behind }: Row): string {
  const figures = Object.entries(behind).map(([name, figure]) => `${name} ${format(figure)}`);
  return `  ${what}: ${format(value)} ${unit}${figures.length > 0 ? ` (${figures.join(", ")})` : ""}`;
}

/** Combines the rows of several runs. Each measured value gets one row, which contains medians over the runs. */
export function combineRuns(runs: readonly (readonly Row[])[]): Row[] {
  const byWhat = Map.groupBy(runs.flat(), ({ what }) => what);
  return [...byWhat.values()].flatMap((rows) => {
    const [first] = rows;
    if (!first) return [];
    const behind = Object.keys(first.behind).map((name) => [
      name,
      median(rows.flatMap((row) => row.behind[name] ?? [])),
    ]);
    return { ...first, value: median(rows.map(({ value }) => value)), behind: Object.fromEntries(behind) };
  });
}
