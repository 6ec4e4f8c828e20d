const MARKERS_MAX = 50;
const DEPTH_MAX = 50;
const RUN_MAX = 50;
const DELIMITERS_MAX = 1_000;

/** Quotes and lists within each other at the start of a line. */
const NESTED = new RegExp(
  String.raw`^(?:[ \t]*(?:>|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t]))){${MARKERS_MAX + 1}}`,
  "m",
);
const LONG_RUN = new RegExp(`[*_~]{${RUN_MAX + 1}}`);

/**
 * Whether rendering a Markdown text could take seconds or overflow the stack: deep nesting of quotes, lists, emphasis or
 * links. A text that people would read has none of these.
 */
export function isCostlyMarkdown(text: string): boolean {
  if (NESTED.test(text) || LONG_RUN.test(text)) return true;
  if ((text.match(/[*_~]/g)?.length ?? 0) > DELIMITERS_MAX) return true;
  let depth = 0;
  for (const char of text) {
    if (char === "[") depth += 1;
    if (char === "]") depth = Math.max(0, depth - 1);
    if (depth > DEPTH_MAX) return true;
  }
  return false;
}
