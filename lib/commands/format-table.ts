/** Formats a header row and the rows below it as lines with aligned columns. */
export function formatTable(head: string[], rows: string[][]): string[] {
  const widths = head.map((name, at) => Math.max(name.length, ...rows.map((row) => row[at]?.length ?? 0)));
  return [head, ...rows].map((row) =>
    row
      .map((cell, at) => printable(cell).padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

/** Replaces control characters, because a terminal could act on them. A browser's name may contain such characters. */
const printable = (text: string): string => text.replace(/\p{C}/gu, "?");
