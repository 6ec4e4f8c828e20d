import type { PageElement, PageNode, PageRoot } from "#lib/dom/make-dom.ts";
import { dom } from "../dom.ts";
import { isFilled } from "./filled-fields.ts";

/** Finds the page's elements, for functions that run inside the page. */
export type SearchKit = {
  /**
   * The document and all open shadow roots in it, in document order, except shadow roots inside the service's overlay.
   */
  roots: () => PageRoot[];
  /**
   * Finds elements by CSS selector, also in open shadow roots, but not in the service's overlay. `a >> b` finds `b`
   * inside `a`, and `a >> nth=1` selects the second element that `a` matches.
   */
  queryAll: (selector: string) => PageElement[];
  isOverlay: (node: PageNode) => boolean;
  isVisible: (element: PageElement) => boolean;
  /**
   * Whether an element is a field for a password, or one that a person has filled during a handover. No tool returns the
   * value of such a field.
   */
  isSecret: (element: PageElement) => boolean;
};

/** Creates the functions that search the document. They cache the shadow roots that they have found. */
export function makeSearch(): SearchKit {
  const overlay = "[data-agent-session-overlay]";
  let cachedRoots: PageRoot[] | undefined;

  const isOverlay = (node: PageNode): boolean => {
    for (let current: PageNode | null = node; current; ) {
      if (dom.isElement(current) && dom.closest(current, overlay)) return true;
      const root: PageNode = dom.getRootNode(current);
      current = root instanceof ShadowRoot ? root.host : null;
    }
    return false;
  };

  const collectRoots = (root: PageRoot, found: PageRoot[]) => {
    found.push(root);
    for (const element of dom.querySelectorAll(root, "*")) {
      const inner = dom.shadowRoot(element);
      if (inner && !dom.closest(element, overlay)) collectRoots(inner, found);
    }
    return found;
  };
  const roots = () => {
    cachedRoots ??= collectRoots(document, []);
    return cachedRoots;
  };

  const queryWithin = (scopes: (PageRoot | PageElement)[], selector: string): PageElement[] => {
    const found = new Set<PageElement>();
    for (const scope of scopes) {
      if (scope === document) {
        for (const root of roots())
          for (const element of dom.querySelectorAll(root, selector)) found.add(element);
        continue;
      }
      for (const element of dom.querySelectorAll(scope, selector)) found.add(element);
      const around = dom.isElement(scope) ? [scope] : [];
      const inner = [...around, ...dom.querySelectorAll(scope, "*")]
        .map((element) => dom.shadowRoot(element))
        .filter((root) => root !== null);
      for (const element of queryWithin(inner, selector)) found.add(element);
    }
    return [...found];
  };
  const queryAll = (selector: string): PageElement[] => {
    let scopes: (PageRoot | PageElement)[] = [document];
    for (const part of selector.split(/\s*>>\s*/)) {
      const nth = part.match(/^nth=(\d+)$/)?.[1];
      scopes = nth === undefined ? queryWithin(scopes, part) : scopes.slice(Number(nth), Number(nth) + 1);
    }
    return scopes.filter((scope) => dom.isElement(scope) && !isOverlay(scope)) as PageElement[];
  };

  const isVisible = (element: PageElement): boolean => {
    const options = { opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true };
    if (!dom.checkVisibility(element, options)) return false;
    // The box of such an element is rendered, but nothing inside it.
    if (dom.computedStyle(element).contentVisibility === "hidden") return false;
    const box = dom.getBoundingClientRect(element);
    return (box.width > 0 && box.height > 0) || dom.computedStyle(element).display === "contents";
  };

  const isSecret = (element: PageElement): boolean =>
    isFilled(element) ||
    (element instanceof HTMLInputElement &&
      (element.type === "password" || /password/.test(element.autocomplete)));

  return { roots, queryAll, isOverlay, isVisible, isSecret };
}
