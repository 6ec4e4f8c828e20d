import type { PageNode } from "../../dom/make-dom.ts";
import { dom } from "./dom.ts";
import { type Guard, shared } from "./shared-state.ts";

/** Inserts a node, bypassing the guard. */
export const insertNode = dom.insertBefore;

/** Removes a node, bypassing the guard. */
export function removeNode(node: PageNode): void {
  const parent = dom.parentNode(node);
  if (parent) dom.removeChild(parent, node);
}

/**
 * Overrides a method of one node. A method that a form field hides cannot be overridden, and the page cannot call such a
 * method either.
 */
export const overrideMethod = (node: PageNode, name: string, value: unknown) =>
  Reflect.defineProperty(node, name, { value, configurable: true, writable: true });

/** Removes the placeholder of a moved child. @returns whether the node is such a child. */
function forgetMoved(placeholders: Map<PageNode, PageNode>, node: PageNode): boolean {
  const placeholder = placeholders.get(node);
  if (placeholder) removeNode(placeholder);
  return placeholders.delete(node);
}

function insertGuarded(this: PageNode, node: PageNode, next: PageNode | null): PageNode {
  const { target, placeholders } = guardParent(this);
  // The page has removed a moved child, for example with `remove()`, and now inserts the child itself.
  if (!dom.parentNode(node)) forgetMoved(placeholders, node);
  let before = next && (placeholders.get(next) ?? next);
  if (next)
    // `next` may follow a moved child at the child's new position. The node is then inserted after the child's
    // placeholder.
    for (const [moved, placeholder] of placeholders)
      if (dom.nextSibling(moved) === next) before = dom.nextSibling(placeholder);
  insertNode(
    before && dom.parentNode(before) === this ? this : target,
    placeholders.get(node) ?? node,
    before,
  );
  return node;
}

function removeGuarded(this: PageNode, child: PageNode): PageNode {
  const { target, placeholders } = guardParent(this);
  if (!forgetMoved(placeholders, child))
    return dom.removeChild(dom.parentNode(child) === target ? target : this, child);
  removeNode(child);
  return child;
}

const methods = {
  insertBefore: insertGuarded,
  moveBefore: insertGuarded,
  appendChild(this: PageNode, node: PageNode) {
    return Reflect.apply(insertGuarded, this, [node, null]);
  },
  removeChild: removeGuarded,
  replaceChild(this: PageNode, node: PageNode, child: PageNode) {
    Reflect.apply(insertGuarded, this, [node, child]);
    return Reflect.apply(removeGuarded, this, [child]);
  },
};

const METHODS = Object.keys(methods) as (keyof typeof methods)[];

/** Returns the guard of a parent. Installs a guard if the parent has none. */
export function guardParent(parent: PageNode): Guard {
  let guard = shared.guards.get(parent);
  if (!guard) {
    guard = { target: parent, placeholders: new Map() };
    shared.guards.set(parent, guard);
    for (const name of METHODS) overrideMethod(parent, name, methods[name]);
  }
  return guard;
}

/** Removes the guard of a parent if all children of the parent are back in it. */
export function releaseGuard(parent: PageNode): void {
  const { target, placeholders } = guardParent(parent);
  if (target !== parent || placeholders.size > 0) return;
  shared.guards.delete(parent);
  for (const name of METHODS) Reflect.deleteProperty(parent, name);
}
