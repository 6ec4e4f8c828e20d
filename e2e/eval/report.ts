import type { TaskResult } from "./play-task.ts";

/** The results of one run of the evaluation. `--json` writes them to a file in this form. */
export type EvalReport = { model: string; date: string; results: TaskResult[] };

const COLUMNS = [
  "modelCalls",
  "toolCalls",
  "toolErrors",
  "fixedChars",
  "charsRead",
  "totalChars",
  "seconds",
] as const;

/** Formats a table of the results with a row of sums, and a line for each unsolved task below the table. */
export function formatReport({ model, results }: EvalReport): string {
  const head = [
    "task",
    "solved",
    "model calls",
    "tool calls",
    "tool errors",
    "fixed characters",
    "characters of results",
    "characters in all",
    "seconds",
  ];
  const rows = results.map((each) => [
    each.id,
    each.isSolved ? "yes" : "NO",
    ...COLUMNS.map((name) => String(each[name])),
  ]);
  const solved = results.filter(({ isSolved }) => isSolved).length;
  const sums = COLUMNS.map((name) => String(Math.round(results.reduce((sum, each) => sum + each[name], 0))));
  const failed = results.filter(({ isSolved }) => !isSolved);
  return [
    formatTable([head, ...rows, [`${results.length} tasks`, `${solved}`, ...sums]]),
    "",
    `${model}: ${solved} of ${results.length} tasks solved.`,
    ...failed.map(({ id, remark }) => `  ${id}: ${remark}`),
  ].join("\n");
}

/** Formats a comparison of two reports. Only tasks that both reports contain are compared. */
export function compareReports(before: EvalReport, after: EvalReport): string {
  const pairs = after.results.flatMap((now) => {
    const was = before.results.find(({ id }) => id === now.id);
    return was ? [{ was, now }] : [];
  });
  const change = (name: (typeof COLUMNS)[number]) => {
    const [previous, current] = (["was", "now"] as const).map((side) =>
      // Reports of before may lack a column.
      pairs.reduce((sum, pair) => sum + (pair[side][name] ?? 0), 0),
    ) as [number, number];
    const percent =
      previous === 0
        ? ""
        : ` (${current >= previous ? "+" : ""}${Math.round(((current - previous) / previous) * 100)} %)`;
    return [name, String(Math.round(previous)), `${Math.round(current)}${percent}`];
  };
  const count = (side: "was" | "now") => String(pairs.filter((pair) => pair[side].isSolved).length);
  const list = (title: string, found: typeof pairs) =>
    found.length === 0 ? [] : [`${title}: ${found.map(({ now }) => now.id).join(", ")}`];
  return [
    formatTable([
      [`${pairs.length} tasks`, before.model, after.model],
      ["solved", count("was"), count("now")],
      ...COLUMNS.map(change),
    ]),
    "",
    ...list(
      "Solved now, but not before",
      pairs.filter(({ was, now }) => now.isSolved && !was.isSolved),
    ),
    ...list(
      "Solved before, but not now",
      pairs.filter(({ was, now }) => was.isSolved && !now.isSolved),
    ),
  ].join("\n");
}

/** Formats rows of cells as columns. The first column is aligned to the left, the others to the right. */
export function formatTable(rows: string[][]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map((row) =>
      row
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
        )
        .join("  "),
    )
    .join("\n");
}
