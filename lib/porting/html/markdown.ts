import { micromark } from "micromark";
import { gfm, gfmHtml } from "micromark-extension-gfm";
import { plainText } from "./escape.ts";

/**
 * Texts beyond these limits are shown as they are written. The parser's time grows with the square of the number of marks:
 * at these limits it takes up to a tenth of a second.
 */
const CHARACTERS_MAX = 20_000;
const MARKS_MAX = 1_000;

/** No raw HTML, no pictures of other servers, and no footnotes, whose ids would collide between messages. */
const WITHOUT = {
  disable: { null: ["htmlFlow", "htmlText", "labelStartImage", "gfmFootnoteCall", "gfmFootnoteDefinition"] },
};

/**
 * Markdown as HTML. The parser escapes all text, so raw HTML stays text; links lead to web pages only, and headings begin
 * below those of the document.
 */
export function renderMarkdown(text: string): string {
  const isCheap = text.length <= CHARACTERS_MAX && (text.match(/[*_~[\]>`]/g)?.length ?? 0) <= MARKS_MAX;
  if (!isCheap) return plainText(text);
  const html = micromark(text, { extensions: [gfm(), WITHOUT], htmlExtensions: [gfmHtml()] });
  const safe = html
    // Every `<` of the text is escaped, so these tags are the parser's own.
    .replace(/<a href="([^"]*)"[^>]*>/g, (_, href: string) =>
      /^https?:\/\//i.test(href)
        ? `<a href="${href}" target="_blank" rel="noopener noreferrer nofollow">`
        : "<a>",
    )
    .replace(
      /<(\/?)h([1-6])>/g,
      (_, slash: string, level: string) => `<${slash}h${Math.min(Number(level) + 2, 6)}>`,
    )
    .replace(/<input [^>]*>/g, (input) => (input.includes("checked") ? "☑" : "☐"))
    .replace(/<table>/g, '<div class="wide"><table>')
    .replace(/<\/table>/g, "</table></div>");
  return `<div class="prose" dir="auto">${safe}</div>`;
}
