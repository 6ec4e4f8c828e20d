const FENCE = /^(`{3,}(?=[^`]*$)|~{3,})/;

/**
 * Converts the agent's Markdown to a block quote. The end of the quote closes all blocks in it, so an unclosed code
 * fence or comment cannot affect the text after the quote. Raw HTML and pictures are escaped; code, emphasis, lists,
 * tables and links are kept. Outside of fenced code blocks, each line is processed alone, so a code span that is not
 * closed on its line becomes plain text.
 */
export function quoteMarkdown(markdown: string): string {
  let fence: string | undefined;
  const lines = markdown
    .replace(/\r\n?/g, "\n")
    .trim()
    .split("\n")
    .map((line) => {
      if (fence !== undefined) {
        if (closes(line, fence)) fence = undefined;
        return line;
      }
      // Only a fence at the start of a line opens a code block here. An indented fence may belong to a list. The code
      // block of such a fence ends with the list, so the lines after the fence are not always code. Therefore,
      // `neutralize` escapes it.
      fence = FENCE.exec(line)?.[1];
      return fence === undefined ? neutralize(line) : neutralizeInfo(line, fence);
    });
  return lines.map((line) => (line === "" ? ">" : `> ${line}`)).join("\n");
}

/**
 * Whether a line closes the code block that `fence` opened. The line must be a fence of the same character, at least as
 * long, and without text after it.
 */
function closes(line: string, fence: string): boolean {
  const mark = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line)?.[1];
  return mark !== undefined && mark[0] === fence[0] && mark.length >= fence.length;
}

/** Keeps the fence. The text after the fence is kept if it is a single language name, and removed otherwise. */
const neutralizeInfo = (line: string, fence: string): string =>
  fence + (/^[ \t]*([\w+#.-]{1,40})[ \t]*$/.exec(line.slice(fence.length))?.[1] ?? "");

/** Keeps the code spans of a line, and escapes raw HTML, pictures and fences in the rest of the line. */
function neutralize(line: string): string {
  let written = "";
  for (let at = 0; at < line.length; ) {
    const char = line[at] ?? "";
    if (char === "`") {
      const run = /^`+/.exec(line.slice(at))?.[0] ?? char;
      const end = findClosing(line, at + run.length, run.length);
      const span = end === undefined ? undefined : line.slice(at, end);
      // In a table, a bar ends the cell even inside a code span. A span with a bar is therefore not treated as code.
      const isCode = span !== undefined && !span.includes("|");
      written += isCode ? span : "\\`".repeat(run.length);
      at += isCode ? span.length : run.length;
    } else if (line.startsWith("~~~", at)) {
      const run = /^~+/.exec(line.slice(at))?.[0] ?? "";
      written += "\\~".repeat(run.length);
      at += run.length;
    } else if (char === "\\" && /[\\<`!~]/.test(line[at + 1] ?? "")) {
      // The backslash already escapes the next character.
      written += line.slice(at, at + 2);
      at += 2;
    } else {
      written += char === "<" ? "\\<" : char === "!" && line[at + 1] === "[" ? "\\!" : char;
      at += 1;
    }
  }
  return written;
}

/**
 * Finds the next run of exactly `length` backticks, which ends a code span. Returns the index after the run, or
 * undefined if there is no such run.
 */
function findClosing(line: string, from: number, length: number): number | undefined {
  for (const { 0: run, index } of line.slice(from).matchAll(/`+/g))
    if (run.length === length) return from + index + length;
  return undefined;
}
