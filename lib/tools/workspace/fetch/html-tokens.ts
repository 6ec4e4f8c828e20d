/** A token of an HTML source: text, or a tag with its attributes. Names are in lower case. */
type HtmlToken =
  | { type: "text"; text: string }
  | { type: "open"; name: string; attributes: Map<string, string> }
  | { type: "close"; name: string };

/** Elements whose content is plain text up to the end tag. */
const RAW_TEXT_ELEMENTS = new Set([
  "script",
  "style",
  "textarea",
  "title",
  "xmp",
  "iframe",
  "noembed",
  "noframes",
]);
const ATTRIBUTES_MAX = 50;
const TAG_NAME = /[a-zA-Z]/;
const SPACE = /[\t\n\f\r ]/;

/**
 * Splits an HTML source into tags and text, and tolerates errors as browsers do. The function reads every character a
 * bounded number of times and builds no tree, so a hostile page takes no more time than any other page of its length.
 */
export function* readHtmlTokens(html: string): Generator<HtmlToken> {
  // Changes only ASCII letters, because `toLowerCase` can change the length of other text, and the indexes would no
  // longer match `html`.
  const lower = html.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  let at = 0;
  while (at < html.length) {
    const next = html.indexOf("<", at);
    const textEnd = next === -1 ? html.length : next;
    if (textEnd > at) yield { type: "text", text: html.slice(at, textEnd) };
    if (next === -1) return;
    at = next + 1;
    const first = html[at] ?? "";
    if (first === "!" || first === "?") {
      at = endOfDeclaration(html, at);
    } else if (TAG_NAME.test(first)) {
      const tag = readTag(html, lower, at);
      at = tag.end;
      yield { type: "open", name: tag.name, attributes: tag.attributes };
      if (!RAW_TEXT_ELEMENTS.has(tag.name)) continue;
      const close = lower.indexOf(`</${tag.name}`, at);
      const rawEnd = close === -1 ? html.length : close;
      if (rawEnd > at) yield { type: "text", text: html.slice(at, rawEnd) };
      at = rawEnd;
    } else if (first === "/" && TAG_NAME.test(html[at + 1] ?? "")) {
      const tag = readTag(html, lower, at + 1);
      at = tag.end;
      yield { type: "close", name: tag.name };
    } else if (first === "/") {
      at = indexAfter(html, ">", at);
    } else {
      yield { type: "text", text: "<" };
    }
  }
}

function endOfDeclaration(html: string, at: number): number {
  return html.startsWith("!--", at) ? indexAfter(html, "-->", at + 1) : indexAfter(html, ">", at);
}

function indexAfter(html: string, mark: string, from: number): number {
  const found = html.indexOf(mark, from);
  return found === -1 ? html.length : found + mark.length;
}

/** Reads a tag, beginning at its name; attributes after the fiftieth are skipped. */
function readTag(html: string, lower: string, start: number) {
  let at = start;
  const until = (ends: (character: string) => boolean) => {
    const from = at;
    while (at < html.length && !ends(html[at] ?? "")) at += 1;
    return from;
  };
  const isSpace = (character: string) => SPACE.test(character);
  const from = until((character) => isSpace(character) || character === "/" || character === ">");
  const name = lower.slice(from, at);
  const attributes = new Map<string, string>();
  while (at < html.length) {
    until((character) => !isSpace(character) && character !== "/");
    if (html[at] === ">") return { name, attributes, end: at + 1 };
    const nameFrom = at;
    at += 1;
    until((character) => isSpace(character) || "/>=".includes(character));
    const key = lower.slice(nameFrom, at);
    until((character) => !isSpace(character));
    const value = html[at] === "=" ? readValue() : "";
    if (attributes.size < ATTRIBUTES_MAX && !attributes.has(key)) attributes.set(key, value);
  }
  return { name, attributes, end: html.length };

  function readValue(): string {
    at += 1;
    until((character) => !isSpace(character));
    const quote = html[at];
    if (quote === '"' || quote === "'") {
      const valueFrom = at + 1;
      at = indexAfter(html, quote, valueFrom);
      return html.slice(valueFrom, html[at - 1] === quote ? at - 1 : at);
    }
    const valueFrom = until((character) => isSpace(character) || character === ">");
    return html.slice(valueFrom, at);
  }
}
