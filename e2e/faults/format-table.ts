import type { CaseRun } from "./run-case.ts";

/** The campaign's table: fault, runs, violations, seeds, seconds. */
export function formatTable(runs: CaseRun[], titles: Map<string, string>): string {
  const rows = [...Map.groupBy(runs, (run) => run.name)].map(([name, own]) => [
    name,
    titles.get(name) ?? "",
    String(own.length),
    String(own.reduce((sum, run) => sum + run.violations.length, 0)),
    describeSeeds(own.map((run) => run.seed)),
    own.reduce((sum, run) => sum + run.seconds, 0).toFixed(1),
  ]);
  const all = [["fault", "what", "runs", "violations", "seeds", "seconds"], ...rows];
  const widths = all[0]?.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0))) ?? [];
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

const describeSeeds = (seeds: number[]) =>
  seeds.length === 1 ? `${seeds[0]}` : `${seeds[0]}–${seeds.at(-1)}`;
