import { shared } from "./shared-state.ts";

/**
 * Lets a framework keep working on a parent whose children the runtime has moved elsewhere. The framework calls
 * `parent.removeChild(child)` and `parent.insertBefore(node, child)` with children that it has rendered. These calls
 * would throw, because the children are no longer in the parent. The guard overrides these methods on the parent, and
 * redirects the calls to where the children are.
 */
export type Guard = {
  /**
   * Where the page's own children are: in the parent, or in a fragment while a change replaces the parent's content.
   */
  target: Node;
  /** For each child that was moved elsewhere, the placeholder that marks its original position. */
  placeholders: Map<Node, Node>;
};

const { insertBefore, removeChild } = Node.prototype;

/** Inserts a node, bypassing the guard. */
export const insertNode = (parent: Node, node: Node, next: Node | null): Node =>
  insertBefore.call(parent, node, next);

/** Removes a node, bypassing the guard. */
export const removeNode = (node: Node) => node.parentNode && removeChild.call(node.parentNode, node);

function insertGuarded(this: Node, node: Node, next: Node | null): Node {
  const { target, placeholders } = guardParent(this);
  let before = next && (placeholders.get(next) ?? next);
  if (next && next.parentNode !== this)
    // `next` may follow a moved child at the child's new position. The node is then inserted after the child's
    // placeholder.
    for (const [moved, placeholder] of placeholders)
      if (moved.nextSibling === next) before = placeholder.nextSibling;
  insertNode(before?.parentNode === this ? this : target, placeholders.get(node) ?? node, before);
  return node;
}

function removeGuarded(this: Node, child: Node): Node {
  const { target, placeholders } = guardParent(this);
  const placeholder = placeholders.get(child);
  if (!placeholder) return removeChild.call(child.parentNode === target ? target : this, child);
  placeholders.delete(child);
  removeNode(placeholder);
  removeNode(child);
  return child;
}

const methods = {
  insertBefore: insertGuarded,
  appendChild(this: Node, node: Node) {
    return insertGuarded.call(this, node, null);
  },
  removeChild: removeGuarded,
  replaceChild(this: Node, node: Node, child: Node) {
    insertGuarded.call(this, node, child);
    return removeGuarded.call(this, child);
  },
};

/** Returns the guard of a parent. Installs a guard if the parent has none. */
export function guardParent(parent: Node): Guard {
  let guard = shared.guards.get(parent);
  if (!guard) {
    guard = { target: parent, placeholders: new Map() };
    shared.guards.set(parent, guard);
    Object.assign(parent, methods);
  }
  return guard;
}

/** Removes the guard of a parent if all children of the parent are back in it. */
export function releaseGuard(parent: Node): void {
  const { target, placeholders } = guardParent(parent);
  if (target !== parent || placeholders.size > 0) return;
  shared.guards.delete(parent);
  for (const name of Object.keys(methods)) Reflect.deleteProperty(parent, name);
}
