import { readHtmlTokens } from "#lib/tools/workspace/fetch/html-tokens.ts";
import { readPlainText } from "./read-plain-text.ts";
import { createDocumentBuilder, type DocumentBuilder, type SeenDocument } from "./seen-document.ts";

/** The marks that `quoteAsData` puts around what comes from outside. */
const QUOTED = /<(data-[0-9a-f]{12})>\n([\s\S]*?)\n<\/\1>/g;
const JSON_DEPTH_MAX = 200;
/** Elements that nest deeper are read as part of the element at this depth. */
const HTML_DEPTH_MAX = 200;

/**
 * Reads the result of a tool, or another text that a session saw, as a document. Recognises the service's snapshots of
 * pages, JSON, HTML and tables; everything else is lines.
 */
export function readSeenText(text: string): SeenDocument {
  const quoted = [...text.matchAll(QUOTED)].map(([, , body = ""]) => body);
  const builder = createDocumentBuilder();
  for (const body of quoted.length > 0 ? quoted : [text]) {
    builder.open();
    readBody(builder, body);
    builder.close();
  }
  return builder.finish();
}

function readBody(builder: DocumentBuilder, body: string): void {
  const [result = "", ...consoles] = body.replace(/^Result: /, "").split("\nConsole:\n");
  const value = parseJson(result) ?? parseFenced(result);
  if (value !== undefined) {
    writeJson(builder, value, undefined, 0);
    for (const lines of consoles) readPlainText(builder, lines);
  } else if (isHtml(result)) readHtml(builder, body);
  else if (isSnapshot(result)) readSnapshot(builder, body);
  else readPlainText(builder, body);
}

/** Parses a text that is JSON; undefined for any other text, and for a bare number or word. */
function parseJson(text: string): unknown {
  const trimmed = text.trim();
  if (!/^[[{"]/.test(trimmed)) return undefined;
  try {
    return JSON.parse(trimmed) as unknown;
  } catch {
    return undefined;
  }
}

/** Parses JSON that is between other lines, such as in an answer with a heading. */
function parseFenced(text: string): unknown {
  const start = text.search(/^[[{]/m);
  const end = Math.max(text.lastIndexOf("\n}"), text.lastIndexOf("\n]"));
  return start > 0 && end > start ? parseJson(text.slice(start, end + 2)) : undefined;
}

function writeJson(builder: DocumentBuilder, value: unknown, name: string | undefined, depth: number): void {
  const label = name === undefined ? [] : [name];
  if (typeof value === "string" && /^\s*[[{]/.test(value) && depth < JSON_DEPTH_MAX) {
    const inner = parseJson(value);
    if (inner !== undefined) {
      writeJson(builder, inner, name, depth + 1);
      return;
    }
  }
  if (typeof value === "string" && value.includes("\n")) {
    builder.open();
    if (name !== undefined) builder.line([name]);
    readBodyOfString(builder, value);
    builder.close();
  } else if (typeof value !== "object" || value === null) {
    const text = String(value);
    builder.line([...label, ...(isHtml(text) ? piecesOfHtml(text) : [text])]);
  } else if (depth < JSON_DEPTH_MAX) {
    if (name !== undefined) builder.line([name]);
    builder.open();
    const items = Array.isArray(value)
      ? value.map((item) => [undefined, item] as const)
      : Object.entries(value);
    const isRow = Array.isArray(value) && value.length > 1 && value.every((item) => typeof item !== "object");
    if (isRow) builder.line(value.map(String));
    else for (const [key, item] of items) writeJson(builder, item, key, depth + 1);
    builder.close();
  }
}

const readBodyOfString = (builder: DocumentBuilder, text: string): void => {
  if (isHtml(text)) readHtml(builder, text);
  else if (isSnapshot(text)) readSnapshot(builder, text);
  else readPlainText(builder, text);
};

const TAG =
  /<(?:html|body|table|t[rdh]|[ou]l|li|d[ltd]|div|p|span|a|section|article|h[1-6])(?:\s[^<>]{0,2000})?>/i;

const isHtml = (text: string): boolean => text.includes("</") && TAG.test(text);

const piecesOfHtml = (text: string): string[] =>
  [...readHtmlTokens(text)].flatMap((token) => (token.type === "text" ? [token.text] : []));

/** Whether most lines have the form of a line of a snapshot: words of the service, and texts of the page in quotes. */
function isSnapshot(text: string): boolean {
  if (/^"(?:[^"\\]|\\.)*" \S+ \(viewport \d+×\d+/.test(text)) return true;
  const lines = text.split("\n", 200).filter((line) => line.trim() !== "");
  const alike = lines.filter((line) =>
    /^\s*(?:[-+•|] )*(?:[a-z][a-z ]*(?:\d )?)?"(?:[^"\\]|\\.)*"/.test(line),
  );
  return lines.length > 0 && alike.length * 2 > lines.length;
}

const SNAPSHOT_PIECE = /(selector |to |\bdate )?("(?:[^"\\]|\\.)*"|\b\d{4}-\d\d-\d\d\b)/g;

function readSnapshot(builder: DocumentBuilder, text: string): void {
  const depths: number[] = [];
  for (const raw of text.split("\n")) {
    const line = raw.replace(/^[-+] /, "");
    if (line.trim() === "") continue;
    const depth = line.length - line.trimStart().length;
    while (depths.length > 0 && (depths.at(-1) ?? 0) >= depth) {
      depths.pop();
      builder.close();
    }
    const pieces: string[] = [];
    const targets: string[] = [];
    for (const [, before = "", quoted = ""] of line.matchAll(SNAPSHOT_PIECE)) {
      if (before === "selector ") continue;
      const piece = quoted.startsWith('"') ? unquote(quoted) : quoted;
      (before === "to " ? targets : pieces).push(piece);
    }
    builder.open();
    depths.push(depth);
    builder.line([...pieces, ...targets]);
  }
  for (const _ of depths) builder.close();
}

function unquote(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted.slice(1, -1);
  }
}

const SKIPPED = new Set(["script", "style", "template", "noscript", "svg"]);
const BLOCKS = new Set(
  "address article aside blockquote body dd details dialog div dl dt fieldset figure figcaption footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table tbody tfoot thead tr ul".split(
    " ",
  ),
);
const CELLS = new Set(["td", "th"]);
const VOID = new Set("area base br col embed hr img input link meta source track wbr".split(" "));
/** Elements that end an open element of the same kind, because their end tags may be left out. */
const CLOSES: Record<string, string[]> = {
  li: ["li"],
  tr: ["tr"],
  dt: ["dt", "dd"],
  dd: ["dt", "dd"],
  p: ["p"],
};
const SCOPES = new Set(["ul", "ol", "dl", "table", "tbody", "thead"]);
const SHOWN_ATTRIBUTES = ["alt", "title", "aria-label", "value", "content", "datetime", "href", "src"];

function readHtml(builder: DocumentBuilder, html: string): void {
  const stack: string[] = [];
  let pieces: string[] = [];
  let piece = "";
  let skipped = 0;
  const endPiece = () => {
    pieces.push(piece);
    piece = "";
  };
  const endLine = () => {
    endPiece();
    builder.line(pieces);
    pieces = [];
  };
  const closeTo = (index: number) => {
    endLine();
    for (const _ of stack.splice(index)) builder.close();
  };
  for (const token of readHtmlTokens(html)) {
    if (token.type === "text") {
      if (skipped === 0) piece += token.text;
      continue;
    }
    const { name } = token;
    if (SKIPPED.has(name)) skipped = Math.max(0, skipped + (token.type === "open" ? 1 : -1));
    if (skipped > 0) continue;
    if (token.type === "close") {
      const index = stack.lastIndexOf(name);
      if (index !== -1) closeTo(index);
      else if (CELLS.has(name)) endPiece();
      continue;
    }
    if (BLOCKS.has(name)) {
      const closed = CLOSES[name];
      const scope = closed ? stack.findLastIndex((open) => SCOPES.has(open)) : -1;
      const index = closed ? stack.findLastIndex((open) => closed.includes(open)) : -1;
      if (index > scope) closeTo(index);
      endLine();
      if (!VOID.has(name) && stack.length < HTML_DEPTH_MAX) {
        stack.push(name);
        builder.open();
      }
    } else if (CELLS.has(name)) endPiece();
    else if (name === "br") endLine();
    for (const attribute of SHOWN_ATTRIBUTES) {
      const value = token.attributes.get(attribute);
      if (value === undefined || value === "") continue;
      const before = piece;
      piece = value;
      endPiece();
      piece = before;
    }
  }
  closeTo(0);
}
