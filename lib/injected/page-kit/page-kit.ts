import type { Dom, PageElement, PageNode, PageRoot } from "#lib/dom/make-dom.ts";
import { beginningOf } from "#lib/text/whole-characters.ts";
import { dom } from "../dom.ts";
import { createLineWriter, type LineWriter } from "./line-writer.ts";
import { type ElementKit, makeElements, type RefCounter } from "./make-elements.ts";
import { makeNames, type NameKit } from "./make-names.ts";
import { roleOf } from "./role-of.ts";
import { type TreeKit, tree } from "./tree.ts";
import { makeSelectorOf } from "./unique-selector.ts";

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
  /** Whether an element is a field for a password. No tool returns the value of such a field. */
  isSecret: (element: PageElement) => boolean;
};

/** The functions that the service's code can use inside a page. */
export type PageKit = SearchKit &
  TreeKit &
  NameKit &
  ElementKit & {
    /** The members of nodes. Nodes are read and changed only through these functions. */
    dom: Dom;
    /** A short selector that matches only this element; null inside a closed shadow root. */
    selectorOf: (element: PageElement) => string | null;
    /** The ARIA role as Playwright's `getByRole` matches it; null if the element has no role. */
    roleOf: (element: PageElement) => string | null;
    beginningOf: typeof beginningOf;
    /** Creates a writer for the lines of one frame. */
    newLines: () => LineWriter;
  };

function makeSearch(): SearchKit {
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
    const box = dom.getBoundingClientRect(element);
    return (box.width > 0 && box.height > 0) || dom.computedStyle(element).display === "contents";
  };

  const isSecret = (element: PageElement): boolean =>
    element instanceof HTMLInputElement &&
    (element.type === "password" || /password/.test(element.autocomplete));

  return { roots, queryAll, isOverlay, isVisible, isSecret };
}

/** Creates the kit for one call: it caches the shadow roots and the selectors that it has seen. */
export function createPageKit(counter: RefCounter): PageKit {
  const search = makeSearch();
  return {
    ...search,
    ...tree,
    ...makeNames(search),
    ...makeElements(search, counter),
    dom,
    roleOf,
    beginningOf,
    newLines: createLineWriter,
    selectorOf: makeSelectorOf(search),
  };
}

export type { RefCounter };
