/** Formats rows as lines with aligned columns, under a head. */
export function formatTable(head: string[], rows: string[][]): string[] {
  const widths = head.map((name, at) => Math.max(name.length, ...rows.map((row) => row[at]?.length ?? 0)));
  return [head, ...rows].map((row) =>
    row
      .map((cell, at) => printable(cell).padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

/** Control characters of a cell, such as those of a browser's name, do not reach the terminal. */
const printable = (text: string): string => text.replace(/\p{C}/gu, "?");
