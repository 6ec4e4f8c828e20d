import type { CompiledSelector } from "./runtime-types.ts";

// The script of each variant has its own copy of this module, so variables of the module belong to one variant.

const OVERLAY = "[data-agent-session-overlay]";

type Root = Document | ShadowRoot;

const collected = new Set<ShadowRoot>();
let sorted: Root[] | undefined;

/**
 * Collects the open shadow roots of an element and of its descendants.
 *
 * @returns whether one of them is new.
 */
export function collectRoots(below: Element | Root): boolean {
  const before = collected.size;
  for (const element of [below, ...below.querySelectorAll("*")]) {
    const root = element instanceof Element && element.shadowRoot;
    if (!root || collected.has(root) || element.closest(OVERLAY)) continue;
    collected.add(root);
    collectRoots(root);
  }
  return collected.size > before;
}

/** Sorts the document and the collected shadow roots in document order. Removes disconnected roots from `collected`. */
function sortRoots(): Root[] {
  const inner = new Map<Node, ShadowRoot[]>();
  for (const root of collected) {
    if (!root.isConnected) collected.delete(root);
    const outer = root.host.getRootNode();
    inner.set(outer, [...(inner.get(outer) ?? []), root]);
  }
  const flatten = (root: Root): Root[] => [
    root,
    ...(inner.get(root) ?? [])
      .sort((one, other) => (one.host.compareDocumentPosition(other.host) & 4 ? -1 : 1))
      .flatMap(flatten),
  ];
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

function isWithin(element: Element, scope: Element): boolean {
  for (let node: Node | null = element; node; ) {
    node = node instanceof ShadowRoot ? node.host : node.parentNode;
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
export function findElements(selector: CompiledSelector): Element[] {
  let found: Element[] | undefined;
  for (const part of selector) {
    if (typeof part === "number") found = found?.slice(part, part + 1) ?? [];
    else {
      const all = listRoots().flatMap((root) => [...root.querySelectorAll(part)]);
      found = found
        ? [...new Set(found.flatMap((scope) => all.filter((element) => isWithin(element, scope))))]
        : all;
    }
  }
  return (found ?? []).filter((element) => !element.closest(OVERLAY));
}
