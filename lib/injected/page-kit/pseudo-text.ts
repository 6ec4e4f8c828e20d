import type { PageElement } from "#lib/dom/make-dom.ts";
import { dom } from "../dom.ts";

/** Characters of Unicode's private-use area, which icon fonts use for their icons, and escape sequences. */
const GLYPHS = /[\uE000-\uF8FF]|\\./gu;

/** The text of `::before` or `::after`, without the icons of icon fonts. */
export function pseudoText(element: PageElement, pseudo: "::before" | "::after"): string {
  const { content } = dom.computedStyle(element, pseudo);
  return /^"/.test(content) ? content.slice(1, -1).replace(GLYPHS, "") : "";
}
