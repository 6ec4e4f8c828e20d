import type { PageElement, PageNode, PageRoot } from "../../dom/make-dom.ts";
import { dom } from "./dom.ts";
import { filter, flatMap, sort } from "./lists.ts";
import type { CompiledSelector } from "./runtime-types.ts";

// The script of each variant has its own copy of this module, so variables of the module belong to one variant.

const OVERLAY = "[data-agent-session-overlay]";

type Root = PageRoot;

const collected = new Set<ShadowRoot>();
let sorted: Root[] | undefined;

/**
 * Collects the open shadow roots of an element and of its descendants.
 *
 * @returns whether one of them is new.
 */
export function collectRoots(below: PageElement | Root): boolean {
  const before = collected.size;
  for (const element of [below, ...dom.querySelectorAll(below, "*")]) {
    const root = dom.isElement(element) && dom.shadowRoot(element);
    if (!root || collected.has(root) || dom.closest(element, OVERLAY)) continue;
    collected.add(root);
    collectRoots(root);
  }
  return collected.size > before;
}

/** Sorts the document and the collected shadow roots in document order. Removes disconnected roots from `collected`. */
function sortRoots(): Root[] {
  const inner = new Map<PageNode, ShadowRoot[]>();
  for (const root of collected) {
    if (!root.isConnected) collected.delete(root);
    const outer = dom.getRootNode(root.host);
    inner.set(outer, [...(inner.get(outer) ?? []), root]);
  }
  const flatten = (root: Root): Root[] => {
    const below = sort(inner.get(root) ?? [], (one, other) =>
      dom.compareDocumentPosition(one.host, other.host) & 4 ? -1 : 1,
    );
    return [root, ...flatMap(below, flatten)];
  };
  return flatten(document);
}

/**
 * Lists the document and its open shadow roots in document order. The list is cached until `refreshRoots` is called.
 */
export function listRoots(): Root[] {
  sorted ??= sortRoots();
  return sorted;
}

/** Clears the cache of `listRoots`. Necessary when the page may have added, moved or removed shadow roots. */
export function refreshRoots(): void {
  sorted = undefined;
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
