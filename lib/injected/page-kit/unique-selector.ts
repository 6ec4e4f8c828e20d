import type { PageElement, PageNode } from "#lib/dom/make-dom.ts";
import { dom } from "../dom.ts";
import type { SearchKit } from "./make-search.ts";

/** Creates the function `PageKit.selectorOf`. */
export function makeSelectorOf({ roots, queryAll }: SearchKit): (element: PageElement) => string | null {
  const testAttributes = ["data-testid", "data-test-id", "data-test", "data-qa", "data-cy"];
  const namingAttributes = [
    "name",
    "aria-label",
    "placeholder",
    "for",
    "href",
    "title",
    "alt",
    "type",
    "role",
  ];
  /** Caches how many elements each selector matches. */
  const counts = new Map<string, number>();

  const isUnique = (selector: string): boolean => {
    let count = counts.get(selector);
    if (count === undefined) {
      count = 0;
      for (const root of roots()) count += dom.querySelectorAll(root, selector).length;
      counts.set(selector, count);
    }
    return count === 1;
  };

  const quote = (value: string) => `"${value.replace(/["\\]/g, "\\$&").replace(/\n/g, "\\a ")}"`;
  /** Whether an id looks as if a framework generated it. Such ids change with the next build or render. */
  const looksGenerated = (value: string) =>
    /\d{4,}|[:.]|^[a-z]{0,3}-?\d+$|[0-9a-f]{8,}|^(radix|headlessui|react|mui|ember|ext-gen)/i.test(value);

  const nameSelector = (element: PageElement): string | null => {
    const tag = dom.localName(element);
    const id = dom.id(element);
    if (id && !looksGenerated(id) && isUnique(`#${CSS.escape(id)}`)) return `#${CSS.escape(id)}`;
    for (const attribute of testAttributes) {
      const value = dom.getAttribute(element, attribute);
      if (value && isUnique(`[${attribute}=${quote(value)}]`)) return `[${attribute}=${quote(value)}]`;
    }
    for (const attribute of namingAttributes) {
      const value = dom.getAttribute(element, attribute);
      if (!value || value.length > 120) continue;
      const selector = `${tag}[${attribute}=${quote(value)}]`;
      if (isUnique(selector)) return selector;
    }
    const type = dom.getAttribute(element, "type");
    const value = dom.getAttribute(element, "value");
    const name = dom.getAttribute(element, "name");
    if (name && type && value && type !== "password" && value.length < 80) {
      const selector = `${tag}[name=${quote(name)}][value=${quote(value)}]`;
      if (isUnique(selector)) return selector;
    }
    if (["html", "body", "main", "h1"].includes(tag) && isUnique(tag)) return tag;
    return null;
  };

  const placeAmongSiblings = (element: PageElement): string => {
    const siblings = dom.siblings(element).filter((one) => dom.localName(one) === dom.localName(element));
    const tag = CSS.escape(dom.localName(element));
    return siblings.length > 1 ? `${tag}:nth-of-type(${siblings.indexOf(element) + 1})` : tag;
  };

  const selectorOf = (element: PageElement): string | null => {
    const named = nameSelector(element);
    if (named) return named;
    const steps: string[] = [];
    for (let current: PageElement = element; ; ) {
      steps.unshift(placeAmongSiblings(current));
      const path = steps.join(" > ");
      if (steps.length > 1 && steps.length < 5 && isUnique(path)) return path;
      const parent: PageNode | null = dom.parentNode(current);
      if (dom.isElement(parent)) {
        const anchor = nameSelector(parent);
        if (anchor) return `${anchor} > ${path}`;
        current = parent;
        continue;
      }
      if (!(parent instanceof ShadowRoot)) return path;
      // Checks for a closed shadow root: a host exposes its shadow root only if the root is open. The check does not
      // read `mode`, because reading the `mode` of a built-in shadow root crashes Chromium's renderer.
      if (dom.shadowRoot(parent.host) !== parent) return null;
      const host = selectorOf(parent.host);
      if (!host) return null;
      // The path may also match elements in nested shadow roots. In that case, the index among all matches is added.
      const places = queryAll(`${host} >> ${path}`);
      return places.length === 1
        ? `${host} >> ${path}`
        : `${host} >> ${path} >> nth=${places.indexOf(element)}`;
    }
  };

  return selectorOf;
}
