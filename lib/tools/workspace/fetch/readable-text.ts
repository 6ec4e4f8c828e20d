import { decodeEntities } from "./decode-entities.ts";
import { readHtmlTokens } from "./html-tokens.ts";
import { createTextFlow, type TextFlow } from "./text-flow.ts";

/** Elements that are left out together with their content. */
const SKIPPED = new Set([
  "script",
  "style",
  "template",
  "svg",
  "math",
  "iframe",
  "noembed",
  "noframes",
  "object",
]);
const PARAGRAPHS = new Set([
  "p",
  "div",
  "section",
  "article",
  "main",
  "header",
  "footer",
  "nav",
  "aside",
  "form",
  "fieldset",
  "table",
  "ul",
  "ol",
  "dl",
  "blockquote",
  "figure",
  "details",
  "address",
  "hr",
  "body",
  "pre",
]);
const LINES = new Set([
  "li",
  "tr",
  "dt",
  "dd",
  "option",
  "figcaption",
  "legend",
  "summary",
  "caption",
  "label",
]);
const FIELDS = new Set(["input", "select", "textarea", "button"]);
const CHARACTERS_MAX = 1_000_000;

/**
 * Converts an HTML page to readable text: title, headings (`#`), paragraphs, lists, tables row by row, links with their
 * absolute URLs, pictures with their descriptions, form fields with their most important attributes. The text includes
 * content that the page hides with CSS, because styles are not read.
 *
 * @param url the page's URL, against which its links are resolved.
 */
export function readableText(html: string, url: string): string {
  const flow = createTextFlow(CHARACTERS_MAX);
  let hidden: { name: string; depth: number } | undefined;
  let title: string | undefined;
  let isInTitle = false;
  let isInTextarea = false;
  let link: { href: string; start: number } | undefined;

  const endLink = () => {
    if (link) flow.wrapLink(link.start, link.href);
    link = undefined;
  };

  for (const token of readHtmlTokens(html)) {
    if (flow.isFull()) break;
    if (token.type === "text") {
      if (isInTitle) title ??= decodeEntities(token.text).replace(/\s+/g, " ").trim();
      else if (!hidden && !isInTextarea) flow.add(decodeEntities(token.text));
      continue;
    }
    const { name } = token;
    if (hidden) {
      // A skipped element that is never closed, such as an svg, ends at the next block element, as in browsers.
      const breaksOut = hidden.name !== "template" && (PARAGRAPHS.has(name) || /^h[1-6]$/.test(name));
      if (name === hidden.name) hidden.depth += token.type === "open" ? 1 : -1;
      if (hidden.depth > 0 && !breaksOut) continue;
      hidden = undefined;
      if (!breaksOut) continue;
    }
    if (token.type === "open" && SKIPPED.has(name)) hidden = { name, depth: 1 };
    else if (name === "title") isInTitle = token.type === "open";
    else if (name === "a") {
      endLink();
      const href = token.type === "open" ? resolve(token.attributes.get("href"), url) : undefined;
      if (href !== undefined) link = { href, start: flow.mark() };
    } else if (token.type === "open") openElement(flow, name, token.attributes);
    else closeElement(flow, name);
    if (name === "textarea") isInTextarea = token.type === "open";
  }
  endLink();
  const text = flow.text();
  return title === undefined || title === "" ? text : `Title: ${title}\n\n${text}`;
}

function openElement(flow: TextFlow, name: string, attributes: Map<string, string>) {
  const heading = name.match(/^h([1-6])$/)?.[1];
  if (heading !== undefined) flow.breakLines(2).add(`${"#".repeat(Number(heading))} `);
  else if (PARAGRAPHS.has(name)) flow.breakLines(2);
  else if (LINES.has(name)) flow.breakLines(1);
  if (name === "li") flow.add("- ");
  if (name === "td" || name === "th") flow.add(" | ");
  if (name === "br") flow.breakLines(1);
  if (name === "pre") flow.keepSpaces(true);
  const alt = name === "img" ? decodeEntities(attributes.get("alt") ?? "").trim() : "";
  if (alt !== "") flow.add(`[image: ${alt}]`);
  if (FIELDS.has(name) && attributes.get("type") !== "hidden") flow.add(describeField(name, attributes));
}

function closeElement(flow: TextFlow, name: string) {
  if (name === "pre") flow.keepSpaces(false);
  if (PARAGRAPHS.has(name) || /^h[1-6]$/.test(name)) flow.breakLines(2);
  else if (LINES.has(name)) flow.breakLines(1);
}

function describeField(name: string, attributes: Map<string, string>): string {
  const shown = ["type", "name", "value", "placeholder", "aria-label", "required"].flatMap((key) => {
    const value = attributes.get(key);
    if (value === undefined) return [];
    return value === "" ? [key] : [`${key}="${decodeEntities(value)}"`];
  });
  return ` [${[name, ...shown].join(" ")}] `;
}

/** The absolute http(s) URL of a link; undefined for other links, such as scripts and anchors within the page. */
function resolve(href: string | undefined, base: string): string | undefined {
  if (href === undefined || href.startsWith("#")) return undefined;
  const url = URL.parse(decodeEntities(href.trim()), base);
  return url?.protocol === "http:" || url?.protocol === "https:" ? url.href : undefined;
}
