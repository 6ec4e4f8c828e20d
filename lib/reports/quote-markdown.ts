const FENCE = /^(`{3,}(?=[^`]*$)|~{3,})/;

/**
 * Converts the agent's Markdown to a block quote. The end of the quote closes all blocks in it, so an unclosed code
 * fence or comment cannot affect the text after the quote. Raw HTML and pictures are escaped; code, emphasis, lists,
 * tables and links are kept, except for the addresses of links that may run code. Outside of fenced code blocks, each line
 * is processed alone, so a code span that is not closed on its line becomes plain text.
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

/**
 * Keeps the code spans of a line. In the rest of the line, escapes raw HTML, pictures and fences, and removes unsafe
 * addresses of links and of reference definitions.
 */
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
    } else if (char === "]" && /[(:]/.test(line[at + 1] ?? "")) {
      const address = readAddress(line, at + 2);
      // The address may be on the next line. Lines are processed alone, so such a link becomes text.
      if (address.text === "") written += `]\\${line[at + 1]}`;
      else written += isSafeAddress(address.text) ? line.slice(at, at + 2) : "]";
      at = address.text === "" || isSafeAddress(address.text) ? at + 2 : address.end;
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

/** Maximum length of an address. A longer one is removed. */
const ADDRESS_MAX = 2_000;

/**
 * Reads the address of a link. `end` is the index after it, and after the bracket that closes the link; a title before
 * that bracket is skipped.
 */
function readAddress(line: string, from: number): { text: string; end: number } {
  const start = line.length - line.slice(from).trimStart().length;
  const isLink = line[from - 1] === "(";
  let depth = 0;
  let end = start;
  for (; end < Math.min(line.length, start + ADDRESS_MAX) && !/\s/.test(line[end] ?? ""); end++) {
    if (line[end] === "\\") end++;
    else if (line[end] === "(") depth++;
    else if (line[end] === ")" && isLink && --depth < 0) break;
  }
  const text = line.slice(start, end);
  const close = isLink ? line.slice(end, end + ADDRESS_MAX).indexOf(")") : -1;
  return { text, end: close === -1 ? Math.min(end, line.length) : end + close + 1 };
}

const SAFE_SCHEMES = ["http", "https", "mailto", "tel"];
const ENTITIES: Record<string, string> = {
  colon: ":",
  tab: "",
  newline: "",
  amp: "&",
  sol: "/",
  num: "#",
  quest: "?",
};

/**
 * Whether an address is relative or has a scheme that runs no code. Entities, escapes and white space are read as
 * browsers read them; an entity that is not known here counts as unsafe before the path.
 */
function isSafeAddress(address: string): boolean {
  if (address.length >= ADDRESS_MAX) return false;
  const plain = address
    .replace(/&#(?:x([0-9a-f]{1,6})|(\d{1,7}));?/gi, (_, hex?: string, decimal?: string) => {
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : "";
    })
    .replace(/&([a-z]\w{0,30});/gi, (entity, name: string) => ENTITIES[name.toLowerCase()] ?? entity)
    .replace(/\\([!-/:-@[-`{-~])/g, "$1")
    .replace(/[\p{Cc}\p{Cf}\s]/gu, "")
    .replace(/^[<([]+/, "");
  const [start = ""] = /^[^/?#]*/.exec(plain) ?? [];
  if (/&[a-z]\w*;/i.test(start)) return false;
  const scheme = /^([^:]*):/.exec(start)?.[1]?.toLowerCase();
  return scheme === undefined || SAFE_SCHEMES.includes(scheme) || /^[\w.-]+:\d/.test(start);
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
