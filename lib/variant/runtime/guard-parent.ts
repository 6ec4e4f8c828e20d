import { shared } from "./shared-state.ts";

/**
 * Lets a framework keep working on a parent whose children the runtime has moved elsewhere. The framework calls
 * `parent.removeChild(child)` and `parent.insertBefore(node, child)` with children that it has rendered. These calls would
 * throw, because the children are no longer there. The guard overrides the methods on this parent, and redirects the calls
 * to where the children are.
 */
export type Guard = {
  /** Where the page's own children are: in the parent, or in a fragment while a change replaces the parent's content. */
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
    // `next` may be the node after a moved child at its new place. The child's placeholder then marks the position.
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

/** Returns the guard of a parent, and installs it if there is none. */
export function guardParent(parent: Node): Guard {
  let guard = shared.guards.get(parent);
  if (!guard) {
    guard = { target: parent, placeholders: new Map() };
    shared.guards.set(parent, guard);
    Object.assign(parent, methods);
  }
  return guard;
}

/** Removes the guard of a parent if none of its children is elsewhere any more. */
export function releaseGuard(parent: Node): void {
  const { target, placeholders } = guardParent(parent);
  if (target !== parent || placeholders.size > 0) return;
  shared.guards.delete(parent);
  for (const name of Object.keys(methods)) Reflect.deleteProperty(parent, name);
}
