import type { PageElement, PageNode } from "#lib/dom/make-dom.ts";
import type { PageKit } from "../page-kit/page-kit.ts";

/** The cleaned HTML of a frame, its headings as an outline, and how many links, forms, fields and images it has. */
export type CleanedHtml = {
  html: string;
  isCut: boolean;
  outline: string[];
  counts: { links: number; forms: number; fields: number; images: number };
};

/**
 * Writes a frame's document as HTML without scripts, inline handlers, styles, comments, embedded data and the service's
 * overlay. Open shadow roots become `<template shadowrootmode="open">`.
 * @param charsMax number of characters after which no more content is written. The end tags of open elements are still
 * written.
 */
export function cleanHtml(kit: PageKit, charsMax: number): CleanedHtml {
  const { dom } = kit;
  const dropped =
    "script, style, noscript, link:not([rel=canonical]), meta:not([name=description]):not([charset]), [data-agent-session-overlay]";
  const empty = new Set("area base br col embed hr img input link meta source track wbr".split(" "));
  const inline = new Set(
    "a abbr b bdi bdo br cite code em i kbd label mark q s small span strong sub sup time u var".split(" "),
  );
  const verbatim = new Set(["pre", "textarea"]);
  const urlAttributes = new Set(["href", "src", "action", "formaction", "poster", "data", "xlink:href"]);
  const parts: string[] = [];
  let chars = 0;
  let isCut = false;

  const write = (text: string) => {
    chars += text.length;
    parts.push(text);
  };
  const escapeText = (text: string) =>
    text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const escapeAttribute = (text: string) => escapeText(text).replace(/"/g, "&quot;");

  const writeAttribute = (element: PageElement, { name, value }: Attr): string => {
    if (
      /^on/i.test(name) ||
      ["style", "nonce", "integrity", "srcset", "sizes", "ping", "srcdoc"].includes(name)
    )
      return "";
    if (name === "value" && kit.isSecret(element)) return "";
    if (urlAttributes.has(name)) {
      // Removes blanks and control characters, because browsers ignore them before and inside the scheme of a URL.
      const scheme = [...value.slice(0, 200)]
        .filter((character) => character > " ")
        .join("")
        .toLowerCase();
      if (scheme.startsWith("javascript:") || scheme.startsWith("vbscript:")) return "";
      if (scheme.startsWith("data:")) return ` ${name}="data:…"`;
    }
    if (value === "") return ` ${name}`;
    return ` ${name}="${escapeAttribute(value.length > 1_000 ? `${kit.beginningOf(value, 1_000)}…` : value)}"`;
  };

  const visit = (node: PageNode, depth: number, isVerbatim: boolean): void => {
    if (chars > charsMax) {
      isCut = true;
      return;
    }
    if (node instanceof Text) {
      const text = isVerbatim ? node.data : node.data.replace(/\s+/g, " ");
      if (text.trim() !== "" || (text !== "" && dom.previousSibling(node) && dom.nextSibling(node)))
        write(escapeText(text));
      return;
    }
    if (!dom.isElement(node) || dom.matches(node, dropped)) return;
    const tag = dom.localName(node);
    const isBlock = !inline.has(tag) && !isVerbatim;
    if (isBlock) write(`\n${" ".repeat(Math.min(depth, 20))}`);
    write(
      `<${tag}${dom
        .attributes(node)
        .map((attribute) => writeAttribute(node, attribute))
        .join("")}>`,
    );
    if (empty.has(tag)) return;
    if (tag === "svg") {
      const title = dom.querySelector(node, "title");
      write(`${escapeText((title && dom.textContent(title)) ?? "")}</svg>`);
      return;
    }
    const shadowRoot = dom.shadowRoot(node);
    if (shadowRoot) {
      write('<template shadowrootmode="open">');
      for (const child of dom.childNodes(shadowRoot)) visit(child, depth + 1, false);
      write("</template>");
    }
    const children = kit.isSecret(node) ? [] : dom.childNodes(node);
    for (const child of children) visit(child, depth + 1, isVerbatim || verbatim.has(tag));
    if (isBlock && dom.children(node).length > 0) write(`\n${" ".repeat(Math.min(depth, 20))}`);
    write(`</${tag}>`);
  };
  visit(dom.documentElement(document), 0, false);

  const outline: string[] = [];
  const count = { links: 0, forms: 0, fields: 0, images: 0 };
  for (const element of kit.queryAll("h1, h2, h3, h4, h5, h6, a[href], form, input, select, textarea, img")) {
    const tag = dom.localName(element);
    if (/^h\d$/.test(tag)) {
      const text = kit.beginningOf((dom.textContent(element) ?? "").replace(/\s+/g, " ").trim(), 120);
      if (outline.length < 60 && text) outline.push(`${" ".repeat(Number(tag[1]) - 1)}${tag} ${text}`);
    } else if (tag === "a") count.links++;
    else if (tag === "form") count.forms++;
    else if (tag === "img") count.images++;
    else count.fields++;
  }
  return { html: parts.join("").trim(), isCut, outline, counts: count };
}
