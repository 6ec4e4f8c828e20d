import { median } from "./statistics.ts";
import type { Row, Target } from "./types.ts";

const isMet = (value: number, target: Target): boolean =>
  "atMost" in target ? value <= target.atMost : value >= target.atLeast;

/** Two figures, as many as a shared machine bears out. */
const format = (value: number): string => (Math.abs(value) >= 10 ? value.toFixed(0) : value.toFixed(2));

const describeTarget = (target: Target, unit: Row["unit"]): string =>
  "atMost" in target ? `≤ ${target.atMost} ${unit}` : `≥ ${target.atLeast} ${unit}`;

/** The rows as a Markdown table: ratios, what was promised, and whether it holds. */
export function formatTable(rows: readonly Row[]): string {
  const lines = rows.map(({ what, value, unit, target }) => {
    const verdict = target ? (isMet(value, target) ? "✓" : "✗") : "";
    return `| ${what} | ${format(value)} ${unit} | ${target ? describeTarget(target, unit) : ""} | ${verdict} |`;
  });
  return ["| measurement | result | target | |", "|---|---|---|---|", ...lines].join("\n");
}

/** A row for the eye of whoever runs the bench: with the figures behind it. */
export function formatLine({ what, value, unit, behind }: Row): string {
  const figures = Object.entries(behind).map(([name, figure]) => `${name} ${format(figure)}`);
  return `  ${what}: ${format(value)} ${unit}${figures.length > 0 ? ` (${figures.join(", ")})` : ""}`;
}

/** One row for each thing that several runs measured: the median of its values, and of each figure behind them. */
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
