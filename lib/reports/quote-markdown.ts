const FENCE = /^(`{3,}(?=[^`]*$)|~{3,})/;

/**
 * Writes Markdown of the agent as a block quote. The end of a quote closes every block in it, so that an open code fence or
 * comment does not extend to the text after the quote. Raw HTML and pictures are written as text; code, emphasis, lists,
 * tables and links stay. Lines are independent: a code span that is not closed on its line is text.
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
      // Fences count only at the start of a line: a fence in a list ends with the list, so later lines are not code.
      fence = FENCE.exec(line)?.[1];
      return fence === undefined ? neutralize(line) : neutralizeInfo(line, fence);
    });
  return lines.map((line) => (line === "" ? ">" : `> ${line}`)).join("\n");
}

/** Whether a line closes a fence: it has the same character, is at least as long, and no other text follows. */
function closes(line: string, fence: string): boolean {
  const mark = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line)?.[1];
  return mark !== undefined && mark[0] === fence[0] && mark.length >= fence.length;
}

/** Removes everything after a fence except the name of a language. */
const neutralizeInfo = (line: string, fence: string): string =>
  fence + (/^[ \t]*([\w+#.-]{1,40})[ \t]*$/.exec(line.slice(fence.length))?.[1] ?? "");

/** Copies the code spans of a line, and escapes raw HTML and pictures in the rest. */
function neutralize(line: string): string {
  let written = "";
  for (let at = 0; at < line.length; ) {
    const char = line[at] ?? "";
    if (char === "`") {
      const run = /^`+/.exec(line.slice(at))?.[0] ?? char;
      const end = findClosing(line, at + run.length, run.length);
      const span = end === undefined ? undefined : line.slice(at, end);
      // A table divides its row at every bar, also within code.
      const isCode = span !== undefined && !span.includes("|");
      written += isCode ? span : "\\`".repeat(run.length);
      at += isCode ? span.length : run.length;
    } else if (char === "\\" && /[\\<`!]/.test(line[at + 1] ?? "")) {
      // Escaped already.
      written += line.slice(at, at + 2);
      at += 2;
    } else {
      written += char === "<" ? "\\<" : char === "!" && line[at + 1] === "[" ? "\\!" : char;
      at += 1;
    }
  }
  return written;
}

/** The end of a code span that a run of backticks opens: after the next run of the same length on the line. */
function findClosing(line: string, from: number, length: number): number | undefined {
  for (const { 0: run, index } of line.slice(from).matchAll(/`+/g))
    if (run.length === length) return from + index + length;
  return undefined;
}
