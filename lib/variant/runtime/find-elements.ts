import type { CompiledSelector } from "./runtime-types.ts";

// Each script runs one variant, so the state of a module belongs to that variant.

const OVERLAY = "[data-agent-session-overlay]";

type Root = Document | ShadowRoot;

const collected = new Set<ShadowRoot>();
let sorted: Root[] | undefined;

/** Adds the open shadow roots of an element and of its descendants. @returns whether there was a new one. */
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

/** Sorts the collected roots, and drops disconnected ones. */
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

/** The document and its open shadow roots in document order, cached for a round of work. */
export function listRoots(): Root[] {
  sorted ??= sortRoots();
  return sorted;
}

/** Begins a round of work. Clears the cache of `listRoots`, because the page may have added, moved or removed roots. */
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
 * Finds elements in all roots. Selectors mean the same as in the page kit of the browser tools.
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
