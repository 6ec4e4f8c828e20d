import type { Position } from "../document.ts";
import { buildNodes } from "./build-nodes.ts";
import type { Effect } from "./effect.ts";
import { guardParent, insertNode, releaseGuard, removeNode } from "./guard-parent.ts";
import type { CompiledNode } from "./runtime-types.ts";
import { shared } from "./shared-state.ts";

/** Lists the nodes that changes have placed at this position of the reference node, in document order. */
function readRun(reference: Node, position: Position): Node[] {
  const isForward = position === "after" || position === "start";
  let node: Node | null = {
    before: reference.previousSibling,
    start: reference.firstChild,
    end: reference.lastChild,
    after: reference.nextSibling,
  }[position];
  const run: Node[] = [];
  for (; node && shared.placed.has(node); node = isForward ? node.nextSibling : node.previousSibling)
    run.push(node);
  return isForward ? run : run.reverse();
}

function isPlaced(nodes: Node[], reference: Node, position: Position): boolean {
  const run = readRun(reference, position).filter((node) => nodes.includes(node));
  return run.length === nodes.length && run.every((node, index) => node === nodes[index]);
}

/**
 * Places nodes after the nodes that other changes have already placed at the same position.
 *
 * @throws Error if nodes cannot be placed at this position, for example before the root element.
 */
function place(nodes: Node[], reference: Node, position: Position): void {
  const isInside = position === "start" || position === "end";
  const parent = isInside ? reference : reference.parentNode;
  if (!parent || parent === document) throw Error(`There is no place ${position} this element.`);
  const fragment = new DocumentFragment();
  for (const node of nodes) insertNode(fragment, node, null);
  const last = readRun(reference, position).at(-1);
  const next = {
    before: reference,
    start: last ? last.nextSibling : reference.firstChild,
    end: null,
    after: (last ?? reference).nextSibling,
  }[position];
  insertNode(parent, fragment, next);
  for (const node of nodes) shared.placed.add(node);
}

/** Inserts new nodes next to or inside an element. If the page moves the element, the nodes follow it. */
export function insertNodes(element: Element, position: Position, compiled: CompiledNode[]): Effect {
  const nodes = buildNodes(compiled);
  return {
    nodes: () => [element, element.parentNode, nodes[0]?.parentNode],
    isIntact: () => isPlaced(nodes, element, position),
    apply: () => place(nodes, element, position),
    undo() {
      for (const node of nodes) removeNode(node);
    },
  };
}

/**
 * Moves an element. If the target is a fragment, the element leaves the document. A placeholder stays at the original
 * position. If a framework later inserts or removes nodes at that position, the placeholder takes the role of the
 * element.
 */
export function moveElement(
  element: Element,
  target: Element | DocumentFragment,
  position: Position,
): Effect {
  const placeholder = document.createComment("");
  let home: Node | undefined;
  let newParent: Node | null | undefined;

  const forgetHome = () => {
    if (!home) return;
    guardParent(home).placeholders.delete(element);
    releaseGuard(home);
  };
  return {
    nodes: () => [home, newParent, target, target.parentNode],
    isIntact: () => isPlaced([element], target, position),
    isLost: () =>
      !placeholder.isConnected || (target instanceof Element && !(element.isConnected && target.isConnected)),
    apply() {
      if (element.contains(target)) throw Error("An element cannot be moved into itself.");
      const parent = element.parentNode;
      if (parent && parent !== newParent) {
        forgetHome();
        home = parent;
        insertNode(parent, placeholder, element);
        guardParent(parent).placeholders.set(element, placeholder);
      }
      place([element], target, position);
      newParent = element.parentNode;
    },
    undo() {
      if (!home) return;
      shared.placed.delete(element);
      forgetHome();
      const { parentNode } = placeholder;
      if (!parentNode) removeNode(element);
      else if (element.parentNode === newParent) insertNode(parentNode, element, placeholder);
      removeNode(placeholder);
    },
  };
}
