import { type BeginningOf, beginningOf } from "#lib/text/whole-characters.ts";
import { type LineWriter, makeLineWriter } from "./line-writer.ts";
import { type ElementKit, makeElements, type RefCounter } from "./make-elements.ts";
import { makeNames, type NameKit } from "./make-names.ts";
import { makeRoleOf } from "./make-roles.ts";
import { makeTree, type TreeKit } from "./make-tree.ts";
import { makeSelectorOf } from "./unique-selector.ts";

/** Access to the page's elements, for functions that run inside the page. */
export type PageDom = {
  /**
   * The document and all open shadow roots in it, in document order, except shadow roots inside the service's overlay.
   */
  roots: () => (Document | ShadowRoot)[];
  /**
   * Finds elements by CSS selector, also in open shadow roots, but not in the service's overlay. `a >> b` finds `b`
   * inside `a`, and `a >> nth=1` selects the second element that `a` matches.
   */
  queryAll: (selector: string) => Element[];
  isOverlay: (node: Node) => boolean;
  isVisible: (element: Element) => boolean;
  /** Whether an element is a field for a password. No tool returns the value of such a field. */
  isSecret: (element: Element) => boolean;
};

/** The functions that the service's code can use inside a page. */
export type PageKit = PageDom &
  TreeKit &
  NameKit &
  ElementKit & {
    /** A short selector that matches only this element; null inside a closed shadow root. */
    selectorOf: (element: Element) => string | null;
    /** The ARIA role as Playwright's `getByRole` matches it; null if the element has no role. */
    roleOf: (element: Element) => string | null;
    beginningOf: BeginningOf;
    /** Creates a writer for the lines of one frame. */
    newLines: () => LineWriter;
  };

/** This function is sent to the page as source and runs there, so it must use nothing from outside its own body. */
function makePageDom(): PageDom {
  const overlay = "[data-agent-session-overlay]";
  let cachedRoots: (Document | ShadowRoot)[] | undefined;

  const isOverlay = (node: Node): boolean => {
    for (let current: Node | null = node; current; ) {
      if (current instanceof Element && current.closest(overlay)) return true;
      const root: Node = current.getRootNode();
      current = root instanceof ShadowRoot ? root.host : null;
    }
    return false;
  };

  const collectRoots = (root: Document | ShadowRoot, found: (Document | ShadowRoot)[]) => {
    found.push(root);
    for (const element of root.querySelectorAll("*")) {
      if (element.shadowRoot && !element.closest(overlay)) collectRoots(element.shadowRoot, found);
    }
    return found;
  };
  const roots = () => {
    cachedRoots ??= collectRoots(document, []);
    return cachedRoots;
  };

  const queryWithin = (scopes: (Document | ShadowRoot | Element)[], selector: string): Element[] => {
    const found = new Set<Element>();
    for (const scope of scopes) {
      if (scope === document) {
        for (const root of roots()) for (const element of root.querySelectorAll(selector)) found.add(element);
        continue;
      }
      for (const element of scope.querySelectorAll(selector)) found.add(element);
      const inner = scope instanceof Element && scope.shadowRoot ? [scope.shadowRoot] : [];
      for (const child of scope.querySelectorAll("*")) if (child.shadowRoot) inner.push(child.shadowRoot);
      for (const element of queryWithin(inner, selector)) found.add(element);
    }
    return [...found];
  };
  const queryAll = (selector: string): Element[] => {
    let scopes: (Document | ShadowRoot | Element)[] = [document];
    for (const part of selector.split(/\s*>>\s*/)) {
      const nth = part.match(/^nth=(\d+)$/)?.[1];
      scopes = nth === undefined ? queryWithin(scopes, part) : scopes.slice(Number(nth), Number(nth) + 1);
    }
    return (scopes as Element[]).filter((element) => !isOverlay(element));
  };

  const isVisible = (element: Element): boolean => {
    if (
      !element.checkVisibility({
        opacityProperty: true,
        visibilityProperty: true,
        contentVisibilityAuto: true,
      })
    ) {
      return false;
    }
    const box = element.getBoundingClientRect();
    return (box.width > 0 && box.height > 0) || getComputedStyle(element).display === "contents";
  };

  const isSecret = (element: Element): boolean =>
    element instanceof HTMLInputElement &&
    (element.type === "password" || /password/.test(element.autocomplete));

  return { roots, queryAll, isOverlay, isVisible, isSecret };
}

/**
 * Returns a JavaScript expression that creates the `PageKit`. The expression runs in an isolated world, which the
 * page's scripts cannot see or change.
 *
 * @param counter a JavaScript expression for the ref counter.
 */
export const pageKitSource = (counter: string): string => `(() => {
  const beginningOf = ${beginningOf};
  const dom = (${makePageDom})();
  const roleOf = (${makeRoleOf})();
  const names = (${makeNames})(dom, roleOf, beginningOf);
  const elements = (${makeElements})(dom, ${counter}, beginningOf);
  const tree = (${makeTree})();
  const newLines = () => (${makeLineWriter})(beginningOf);
  return { ...dom, ...tree, ...names, ...elements, roleOf, beginningOf, newLines, selectorOf: (${makeSelectorOf})(dom) };
})()`;

export type { RefCounter };
