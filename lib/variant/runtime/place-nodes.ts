import type { PageElement, PageNode } from "../../dom/make-dom.ts";
import type { Position } from "../document.ts";
import { buildNodes } from "./build-nodes.ts";
import { dom } from "./dom.ts";
import type { Effect } from "./effect.ts";
import { guardParent, insertNode, releaseGuard, removeNode } from "./guard-parent.ts";
import { add, every, filter, includes, last as lastOf, reverse } from "./lists.ts";
import type { CompiledNode } from "./runtime-types.ts";
import { shared } from "./shared-state.ts";

/** Lists the nodes that changes have placed at this position of the reference node, in document order. */
function readRun(reference: PageNode, position: Position): PageNode[] {
  const isForward = position === "after" || position === "start";
  let node: PageNode | null = {
    before: dom.previousSibling(reference),
    start: dom.firstChild(reference),
    end: dom.lastChild(reference),
    after: dom.nextSibling(reference),
  }[position];
  const run: PageNode[] = [];
  for (
    ;
    node && shared.placed.has(node);
    node = isForward ? dom.nextSibling(node) : dom.previousSibling(node)
  )
    add(run, node);
  return isForward ? run : reverse(run);
}

function isPlaced(nodes: PageNode[], reference: PageNode, position: Position): boolean {
  const run = filter(readRun(reference, position), (node) => includes(nodes, node));
  return run.length === nodes.length && every(run, (node, index) => node === nodes[index]);
}

/**
 * Places nodes after the nodes that other changes have already placed at the same position.
 *
 * @throws Error if nodes cannot be placed at this position, for example before the root element.
 */
function place(nodes: PageNode[], reference: PageNode, position: Position): void {
  const isInside = position === "start" || position === "end";
  const parent = isInside ? reference : dom.parentNode(reference);
  if (!parent || parent === document) throw Error(`There is no place ${position} this element.`);
  const fragment = new DocumentFragment();
  for (const node of nodes) insertNode(fragment, node, null);
  const last = lastOf(readRun(reference, position));
  const next = {
    before: reference,
    start: last ? dom.nextSibling(last) : dom.firstChild(reference),
    end: null,
    after: dom.nextSibling(last ?? reference),
  }[position];
  insertNode(parent, fragment, next);
  for (const node of nodes) shared.placed.add(node);
}

/** Inserts new nodes next to or inside an element. If the page moves the element, the nodes follow it. */
export function insertNodes(element: PageElement, position: Position, compiled: CompiledNode[]): Effect {
  const nodes = buildNodes(compiled);
  return {
    nodes: () => [element, dom.parentNode(element), nodes[0] && dom.parentNode(nodes[0])],
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
  element: PageElement,
  target: PageElement | DocumentFragment,
  position: Position,
): Effect {
  const placeholder = dom.createComment(document, "");
  let home: PageNode | undefined;
  let newParent: PageNode | null | undefined;

  const forgetHome = () => {
    if (!home) return;
    guardParent(home).placeholders.delete(element);
    releaseGuard(home);
  };
  return {
    nodes: () => [home, newParent, target, dom.parentNode(target)],
    isIntact: () => isPlaced([element], target, position),
    isLost: () =>
      !placeholder.isConnected ||
      (dom.isElement(target) && !(dom.isConnected(element) && dom.isConnected(target))),
    apply() {
      if (dom.contains(element, target)) throw Error("An element cannot be moved into itself.");
      const parent = dom.parentNode(element);
      if (parent && parent !== newParent) {
        forgetHome();
        home = parent;
        insertNode(parent, placeholder, element);
        guardParent(parent).placeholders.set(element, placeholder);
      }
      place([element], target, position);
      newParent = dom.parentNode(element);
    },
    undo() {
      if (!home) return;
      shared.placed.delete(element);
      forgetHome();
      const { parentNode } = placeholder;
      if (!parentNode) removeNode(element);
      else if (dom.parentNode(element) === newParent) insertNode(parentNode, element, placeholder);
      removeNode(placeholder);
    },
  };
}
