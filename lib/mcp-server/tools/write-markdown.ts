import { gfm } from "@joplin/turndown-plugin-gfm";
import { Readability } from "@mozilla/readability";
import TurndownService from "turndown";
import type { MarkdownAnswer, PageJob } from "./page-job.ts";
import { parsePage } from "./parse-page.ts";

const UNSEEN = "script, style, noscript, template, iframe, object, svg, canvas, link, meta";

/** Converts a page to clean Markdown. With the scope "article", converts only the main article, if the page has one. */
export function writeMarkdown({ html, url, scope }: Extract<PageJob, { kind: "markdown" }>): MarkdownAnswer {
  const document = parsePage(html);
  makeAbsolute(document, url);
  const title = document.title.trim() || null;
  const language = document.documentElement.getAttribute("lang");
  const article = scope === "article" ? readArticle(document) : undefined;
  if (article) return { language, ...article, title: article.title ?? title };
  for (const element of document.querySelectorAll(UNSEEN)) element.remove();
  const markdown = toMarkdown(document.body);
  return { title, byline: null, publishedAt: null, language, isArticle: false, markdown };
}

/** Extracts the main article. Readability modifies the document that it gets, so it gets a copy. */
function readArticle(document: Document) {
  const copy = document.cloneNode(true) as Document;
  const article = new Readability<Element>(copy, { serializer: (node) => node as Element }).parse();
  if (!article?.content) return undefined;
  const { title, byline, publishedTime } = article;
  return {
    title: title?.trim() || null,
    byline: byline?.trim() || null,
    publishedAt: publishedTime?.trim() || null,
    isArticle: true,
    markdown: toMarkdown(article.content),
  };
}

function toMarkdown(element: Element): string {
  const service = new TurndownService({
    headingStyle: "atx",
    codeBlockStyle: "fenced",
    bulletListMarker: "-",
    hr: "---",
  });
  service.use(gfm);
  // Turndown gets HTML text instead of the element, because its table rules need DOM features that linkedom lacks.
  return service
    .turndown(element.innerHTML)
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

/** Makes the URLs of links and pictures absolute. URLs that are not http(s), such as `javascript:`, are removed. */
function makeAbsolute(document: Document, url: string): void {
  const base = URL.parse(document.querySelector("base[href]")?.getAttribute("href") ?? "", url)?.href ?? url;
  for (const [selector, attribute] of [
    ["a[href]", "href"],
    ["img[src]", "src"],
  ] as const) {
    for (const element of document.querySelectorAll(selector)) {
      const address = URL.parse(element.getAttribute(attribute)?.trim() ?? "", base);
      if (address?.protocol === "http:" || address?.protocol === "https:")
        element.setAttribute(attribute, address.href);
      else element.removeAttribute(attribute);
    }
  }
}
