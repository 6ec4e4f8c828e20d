/** Formats a head and rows as lines with aligned columns. */
export function formatTable(head: string[], rows: string[][]): string[] {
  const widths = head.map((name, at) => Math.max(name.length, ...rows.map((row) => row[at]?.length ?? 0)));
  return [head, ...rows].map((row) =>
    row
      .map((cell, at) => printable(cell).padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

/** Replaces control characters, so that they do not reach the terminal. A browser's name may contain some. */
const printable = (text: string): string => text.replace(/\p{C}/gu, "?");
