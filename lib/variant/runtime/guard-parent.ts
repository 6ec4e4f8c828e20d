import { shared } from "./shared-state.ts";

/**
 * Keeps the page's framework working on a parent whose children a runtime has taken away. A framework calls
 * `parent.removeChild(child)` and `parent.insertBefore(node, child)` with the children that it rendered, and throws when
 * they are elsewhere. Own methods of this one parent direct such calls to where the children are.
 */
export type Guard = {
  /** Where the children are: the parent, or the fragment that holds its content. */
  target: Node;
  /** The placeholders of children that were moved away. */
  placeholders: Map<Node, Node>;
};

const { insertBefore, removeChild } = Node.prototype;

/** Inserts a node, past the guard. */
export const insertNode = (parent: Node, node: Node, next: Node | null): Node =>
  insertBefore.call(parent, node, next);

/** Removes a node, past the guard. */
export const removeNode = (node: Node) => node.parentNode && removeChild.call(node.parentNode, node);

function insertGuarded(this: Node, node: Node, next: Node | null): Node {
  const { target, placeholders } = guardParent(this);
  let before = next && (placeholders.get(next) ?? next);
  if (next && next.parentNode !== this)
    // The next sibling of a moved child is no child of this parent.
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

/** The guard of a parent, installed if there was none. */
export function guardParent(parent: Node): Guard {
  let guard = shared.guards.get(parent);
  if (!guard) {
    guard = { target: parent, placeholders: new Map() };
    shared.guards.set(parent, guard);
    Object.assign(parent, methods);
  }
  return guard;
}

/** Removes the guard of a parent that has its children again. */
export function releaseGuard(parent: Node): void {
  const { target, placeholders } = guardParent(parent);
  if (target !== parent || placeholders.size > 0) return;
  shared.guards.delete(parent);
  for (const name of Object.keys(methods)) Reflect.deleteProperty(parent, name);
}
