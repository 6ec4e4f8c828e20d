import { micromark } from "micromark";
import { gfm, gfmHtml } from "micromark-extension-gfm";
import { isCostlyMarkdown } from "#lib/markdown/is-costly-markdown.ts";
import { plainText } from "./escape.ts";

/** A text with more characters is shown as plain text, because parsing it would block other requests. */
const CHARACTERS_MAX = 20_000;

/** Turns off raw HTML, pictures and footnotes. The ids of footnotes would collide between messages. */
const WITHOUT = {
  disable: { null: ["htmlFlow", "htmlText", "labelStartImage", "gfmFootnoteCall", "gfmFootnoteDefinition"] },
};

/**
 * Renders Markdown as HTML. A text that would take long to parse is rendered as plain text. Raw HTML in the Markdown is
 * shown as text. Only links to http and https URLs work. Headings start at level 3, below the headings of the exported
 * file.
 */
export function renderMarkdown(text: string): string {
  if (text.length > CHARACTERS_MAX || isCostlyMarkdown(text)) return plainText(text);
  const html = micromark(text, { extensions: [gfm(), WITHOUT], htmlExtensions: [gfmHtml()] });
  const safe = html
    // The parser has escaped every `<` of the text, so the patterns match only tags that the parser itself wrote.
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
