import type { PageElement } from "#lib/dom/make-dom.ts";
import { dom } from "../dom.ts";
import type { PageKit } from "../page-kit/page-kit.ts";

/** The size of the viewport, its scroll position and the size of the page, in CSS pixels. */
export type PageView = {
  width: number;
  height: number;
  scrollX: number;
  scrollY: number;
  pageWidth: number;
  pageHeight: number;
};

/** Reads which part of the page the viewport shows. */
export function readView(): PageView {
  const root = dom.documentElement(document);
  // A document of which nothing has arrived has no element.
  const page = {
    pageWidth: root ? dom.scrollWidth(root) : 0,
    pageHeight: root ? dom.scrollHeight(root) : 0,
  };
  const scroll = { scrollX: Math.round(scrollX), scrollY: Math.round(scrollY) };
  return { width: innerWidth, height: innerHeight, ...scroll, ...page };
}

/** Reads how far the page is scrolled, in CSS pixels. */
export const readScroll = (): { x: number; y: number } => ({ x: scrollX, y: scrollY });

/** Returns why a selector is invalid; null if it is valid. */
export function checkSelector(kit: PageKit, selector: string): string | null {
  try {
    kit.queryAll(selector);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : "it cannot be parsed.";
  }
}

/** Counts the elements of a frame by kind. */
export function countElements(kit: PageKit) {
  const roots = kit.roots();
  const count = (selector: string) =>
    roots.reduce((sum, root) => sum + dom.querySelectorAll(root, selector).length, 0);
  return {
    width: innerWidth,
    height: innerHeight,
    title: kit.beginningOf(dom.title(document), 200),
    elements: count("*"),
    links: count("a[href]"),
    fields: count("input, select, textarea, button"),
    shadowRoots: roots.length - 1,
  };
}

/** Describes the element that contains a frame. The box is that of the frame's viewport. */
export function describeOwner(kit: PageKit, element: PageElement) {
  const box = dom.getBoundingClientRect(element);
  return {
    ref: kit.refOf(element),
    selector: kit.selectorOf(element),
    x: box.x + dom.clientLeft(element),
    y: box.y + dom.clientTop(element),
    width: dom.clientWidth(element),
    height: dom.clientHeight(element),
    isVisible: kit.isVisible(element),
  };
}
