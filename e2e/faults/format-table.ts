import type { FaultCase } from "./fault-case.ts";
import type { CaseRun } from "./run-case.ts";

const HEAD = ["fault", "what", "runs", "violations", "seeds", "seconds"];

/**
 * Formats the results as a Markdown table with one row for each case that was played, in the order of `cases`. The
 * column `seconds` contains the mean duration of the case's runs.
 */
export function formatTable(runs: CaseRun[], cases: readonly FaultCase[]): string {
  const rows = cases.flatMap(({ name, title }) => {
    const own = runs.filter((run) => run.name === name);
    if (own.length === 0) return [];
    const violations = own.reduce((sum, run) => sum + run.violations.length, 0);
    const seconds = own.reduce((sum, run) => sum + run.seconds, 0) / own.length;
    return [[name, title, String(own.length), String(violations), describeSeeds(own), seconds.toFixed(1)]];
  });
  const all = [HEAD, HEAD.map(() => "---"), ...rows];
  const widths = HEAD.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all
    .map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`)
    .join("\n");
}

function describeSeeds(runs: CaseRun[]): string {
  const seeds = runs.map(({ seed }) => seed).sort((a, b) => a - b);
  return seeds.length === 1 ? `${seeds[0]}` : `${seeds[0]}–${seeds.at(-1)}`;
}
