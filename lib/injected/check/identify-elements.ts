import type { PageElement, PageRoot } from "#lib/dom/make-dom.ts";
import { describePosition } from "./describe-position.ts";
import type { PageWatch } from "./page-watch.ts";

/**
 * Returns keys that identify elements in loads of the same page with and without the variant: the element's place among
 * the elements of the page itself, and its name, texts and attributes. An element that a change has built has no place.
 * Elements without a common key are different elements.
 *
 * @param paths for each element, one CSS selector for the document and one for each shadow root around the element.
 */
export function identifyElements(watch: PageWatch, paths: string[][]): string[][] {
  const TEXT_MAX = 200;
  const ATTRIBUTES = ["id", "name", "type", "role", "href", "src", "alt", "aria-label", "placeholder"];
  const kit = watch.newKit();
  const { dom } = kit;
  const isBuilt = (element: PageElement) => watch.verifier.isBuilt(kit, element);
  const find = (path: string[]): PageElement | null => {
    let scope: PageRoot | null = document;
    let element: PageElement | null = null;
    for (const selector of path) {
      element = scope && dom.querySelector(scope, selector);
      scope = element && dom.shadowRoot(element);
    }
    return element;
  };
  const contentOf = (element: PageElement): string =>
    JSON.stringify([
      dom.localName(element),
      kit.beginningOf((dom.textContent(element) ?? "").replace(/\s+/g, " ").trim(), TEXT_MAX),
      ...ATTRIBUTES.map((name) => dom.getAttribute(element, name)),
    ]);
  return paths.map((path) => {
    const element = find(path);
    if (!element) return [path.join(" ")];
    return isBuilt(element) ? [contentOf(element)] : [describePosition(element, isBuilt), contentOf(element)];
  });
}
