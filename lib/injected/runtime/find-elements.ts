import type { PageElement, PageNode, PageRoot } from "../../dom/make-dom.ts";
import { dom } from "./dom.ts";
import { filter, flatMap } from "./lists.ts";
import type { CompiledSelector } from "./runtime-types.ts";

// The script of each variant has its own copy of this module, so variables of the module belong to one variant.

const OVERLAY = "[data-agent-session-overlay]";

/** The document and its open shadow roots in document order. */
let roots: PageRoot[] | undefined;

/** Lists the open shadow roots of an element or root and of its descendants, each before those inside it. */
export const listShadowRoots = (below: PageElement | PageRoot): PageRoot[] =>
  flatMap([below, ...dom.querySelectorAll(below, "*")], (element) => {
    const root = dom.isElement(element) && dom.shadowRoot(element);
    return root && !dom.closest(element, OVERLAY) && [root, ...listShadowRoots(root)];
  });

/**
 * Lists the document and its open shadow roots in document order. The list is cached until `refreshRoots` is called.
 */
export function listRoots(): PageRoot[] {
  roots ??= [document, ...listShadowRoots(document)];
  return roots;
}

/** Clears the cache of `listRoots`. Necessary when the page may have added or moved shadow roots. */
export function refreshRoots(): void {
  roots = undefined;
}

function isWithin(element: PageElement, scope: PageElement): boolean {
  for (let node: PageNode | null = element; node; ) {
    node = dom.parentNode(node) ?? dom.host(node);
    if (node === scope) return true;
  }
  return false;
}

/**
 * Finds the elements that match a selector in the document and in all open shadow roots. Selectors have the same
 * meaning as in `lib/tools/browser/page-kit`.
 *
 * @throws DOMException if the selector is invalid.
 */
export function findElements(selector: CompiledSelector): PageElement[] {
  let found: PageElement[] | undefined;
  for (const part of selector) {
    if (typeof part === "number") {
      const one = found?.[part];
      found = one ? [one] : [];
    } else {
      const all = flatMap(listRoots(), (root) => dom.querySelectorAll(root, part));
      found = found
        ? [...new Set(flatMap(found, (scope) => filter(all, (element) => isWithin(element, scope))))]
        : all;
    }
  }
  return filter(found ?? [], (element) => !dom.closest(element, OVERLAY));
}
