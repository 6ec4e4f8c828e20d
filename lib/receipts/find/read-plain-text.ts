import type { DocumentBuilder } from "./seen-document.ts";

const DELIMITERS = ["\t", ";", ","] as const;
const ROWS_MIN = 3;

/**
 * Adds lines of text: paragraphs, indented lines, rows of tables (`| a | b`, or separated by tabs, semicolons or commas).
 */
export function readPlainText(builder: DocumentBuilder, text: string): void {
  const lines = unescapeJson(text).split("\n");
  const delimiter = findDelimiter(lines);
  for (const paragraph of splitParagraphs(lines)) {
    builder.open();
    const depths: number[] = [];
    for (const line of paragraph) {
      const depth = line.length - line.trimStart().length;
      while (depths.length > 0 && (depths.at(-1) ?? 0) >= depth) {
        depths.pop();
        builder.close();
      }
      builder.open();
      depths.push(depth);
      builder.line(splitRow(line, delimiter));
    }
    for (const _ of depths) builder.close();
    builder.close();
  }
}

/** Resolves the escapes of JSON that was cut or is within other text. */
const unescapeJson = (text: string): string =>
  /\\(?:u[\da-f]{4}|["/n])/i.test(text)
    ? text
        .replace(/\\u([\da-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
        .replace(/\\n/g, "\n")
        .replace(/\\(["/])/g, "$1")
    : text;

function splitParagraphs(lines: string[]): string[][] {
  const paragraphs: string[][] = [[]];
  for (const line of lines) {
    if (line.trim() === "") paragraphs.push([]);
    else paragraphs.at(-1)?.push(line);
  }
  return paragraphs.filter((paragraph) => paragraph.length > 0);
}

/** Finds the delimiter of a table whose rows have the same number of cells; undefined if the text is no such table. */
function findDelimiter(lines: string[]): string | undefined {
  const rows = lines.filter((line) => line.trim() !== "");
  if (rows.length < ROWS_MIN) return undefined;
  return DELIMITERS.find((delimiter) => {
    const counts = rows.map((row) => splitQuoted(row, delimiter).length);
    const usual = counts.toSorted((one, other) => one - other)[Math.floor(counts.length / 2)] ?? 0;
    return usual > 2 && counts.filter((count) => count === usual).length >= rows.length * 0.8;
  });
}

function splitQuoted(line: string, delimiter: string): string[] {
  if (!line.includes('"')) return line.split(delimiter);
  const cells = [""];
  let isQuoted = false;
  for (const char of line) {
    if (char === '"') isQuoted = !isQuoted;
    if (char === delimiter && !isQuoted) cells.push("");
    else cells[cells.length - 1] += char;
  }
  return cells.map((cell) => cell.replace(/^"(.*)"$/, "$1"));
}

function splitRow(line: string, delimiter: string | undefined): string[] {
  if (delimiter !== undefined) return splitQuoted(line, delimiter);
  const bare = line.replace(/^\s*(?:[-*•+]|#{1,6})\s+/, "");
  return bare.split(/\s\|\s|^\s*\||\|\s*$|\t|\s{3,}/);
}
