const CHARACTERS_MAX = 100_000;
const NESTED_MAX = 50;
/**
 * Maximum product of nesting depth and number of lines. In the worst case, every line is in every nested quote or list.
 */
const NESTED_LINES_MAX = 10_000;
const RUN_MAX = 50;
const MARKS_MAX = 1_000;
/**
 * The marks of emphasis, code and links. Parsers pair the marks of each kind separately, so they are counted
 * separately.
 */
const MARKS = [/[*_~]/g, /`/g, /[[\]<]/g];
const CELLS_MAX = 10_000;
const PARENTHESES_MAX = 500;

/** Matches the markers of quotes and lists at the start of a line. */
const CONTAINERS = /^(?:[ \t]*(?:>|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t])))+/;
const CONTAINER = /[>+*.)-]/g;
const LONG_RUN = new RegExp(`[*_~]{${RUN_MAX + 1}}`);
const FENCE = /^(?:`{3,}(?=[^`]*$)|~{3,})/;
const CLOSING_FENCE = /^ {0,3}(`{3,}|~{3,})[ \t]*$/;
/**
 * Matches lines after which the fences cannot be told without a parser: a fence that is indented or in a list or quote,
 * and a line that may begin raw HTML.
 */
const UNCLEAR = /^(?:[ \t>*+\-\d.)]+(?:```|~~~)| {0,3}<)/;
/**
 * Matches the line below the head of a table, such as `| --- | --- |`. Each row of the table gets as many cells as this
 * line.
 */
const DELIMITER_ROW = /^[\s>:*+\d.)-]*\|[\s|>:*+\d.)-]*$/;

/**
 * Whether rendering a Markdown text could take seconds, fill the memory or overflow the stack. The time of parsers
 * grows with the square of the number of marks (emphasis, links, code), of nested quotes and lists, and of parentheses
 * in a URL. A table can have as many cells as columns times lines. Ordinary texts stay far below the limits for these
 * numbers. A text of more than 100,000 characters always counts as costly.
 */
export function isCostlyMarkdown(text: string): boolean {
  if (text.length > CHARACTERS_MAX) return true;
  const lines = withoutCode(text.split("\n"));
  const prose = lines.join("\n");
  if (LONG_RUN.test(prose)) return true;
  if (MARKS.some((marks) => countMatches(prose, marks) > MARKS_MAX)) return true;
  const nested = Math.max(0, ...lines.map(countContainers));
  return (
    nested > NESTED_MAX ||
    nested * lines.length > NESTED_LINES_MAX ||
    measureBrackets(prose) > NESTED_MAX ||
    measureParentheses(prose) > PARENTHESES_MAX ||
    countCells(lines) > CELLS_MAX
  );
}

/**
 * Removes fenced code, because parsers ignore marks in it. All lines after an unclear one count as prose, so that no text
 * that a parser reads as prose is left out.
 */
function withoutCode(lines: readonly string[]): string[] {
  const prose: string[] = [];
  let fence = "";
  let code: string[] = [];
  for (const [index, line] of lines.entries()) {
    if (fence === "") {
      if (UNCLEAR.test(line)) return [...prose, ...lines.slice(index)];
      fence = FENCE.exec(line)?.[0] ?? "";
      if (fence === "") prose.push(line);
    } else if (closes(line, fence)) {
      fence = "";
      code = [];
    } else {
      code.push(line);
    }
  }
  // If the last fence is not closed, its lines count as prose.
  return [...prose, ...code];
}

/** Whether a line is a fence of the same character, at least as long, and without text after it. */
function closes(line: string, fence: string): boolean {
  const mark = CLOSING_FENCE.exec(line)?.[1];
  return mark !== undefined && mark[0] === fence[0] && mark.length >= fence.length;
}

const countContainers = (line: string): number => countMatches(CONTAINERS.exec(line)?.[0] ?? "", CONTAINER);

const countMatches = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;

/** Returns the maximum nesting depth of square brackets. */
function measureBrackets(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [bracket] of text.matchAll(/[[\]]/g)) {
    depth = bracket === "[" ? depth + 1 : Math.max(0, depth - 1);
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

/**
 * Returns the largest number of parentheses in one word, such as a URL. Skips words that are too short to exceed the
 * limit.
 */
function measureParentheses(text: string): number {
  let most = 0;
  for (const [word] of text.matchAll(/\S+/g))
    if (word.length > PARENTHESES_MAX) most = Math.max(most, countMatches(word, /[()]/g));
  return most;
}

/** Returns an upper bound for the number of table cells. */
function countCells(lines: readonly string[]): number {
  let cells = 0;
  let columns = 0;
  for (const line of lines) {
    if (line.trim() === "") columns = 0;
    if (line.includes("-") && DELIMITER_ROW.test(line))
      columns = Math.max(columns, countMatches(line, /\|/g) + 1);
    cells += columns;
  }
  return cells;
}
