import type { PageElement, PageNode } from "../../dom/make-dom.ts";
import { buildNodes } from "./build-nodes.ts";
import { dom } from "./dom.ts";
import type { Effect } from "./effect.ts";
import { guardParent, insertNode, overrideMethod, releaseGuard, removeNode } from "./guard-parent.ts";
import {
  add,
  every,
  filter,
  find,
  includes,
  last as lastOf,
  readWords,
  removeLast,
  reverse,
  some,
} from "./lists.ts";
import type { CompiledNode, Position } from "./runtime-types.ts";
import { shared } from "./shared-state.ts";

/** Lists the nodes at this position of the reference node for which `test` is true, from the nearest outwards. */
function listAt(reference: PageNode, position: Position, test: (node: PageNode) => boolean): PageNode[] {
  const isForward = position === "after" || position === "start";
  let node: PageNode | null = {
    before: dom.previousSibling(reference),
    start: dom.firstChild(reference),
    end: dom.lastChild(reference),
    after: dom.nextSibling(reference),
  }[position];
  const nodes: PageNode[] = [];
  for (; node && test(node); node = isForward ? dom.nextSibling(node) : dom.previousSibling(node))
    add(nodes, node);
  return nodes;
}

const isPlacedNode = (node: PageNode) => shared.placed.has(node);

/** Lists the nodes that changes have placed at this position of the reference node, in document order. */
function readRun(reference: PageNode, position: Position): PageNode[] {
  const run = listAt(reference, position, isPlacedNode);
  return position === "after" || position === "start" ? run : reverse(run);
}

/** The HTML of an element, or the text of another node. */
const readSource = (node: PageNode) => (dom.isElement(node) ? dom.outerHTML(node) : dom.textContent(node));

/**
 * Finds copies of nodes at the position where the nodes belong. They come back when the page inserts HTML that it read
 * while the nodes were in it, or clones elements with their surroundings. Only nodes that a change has inserted in this
 * document before can have copies.
 */
function findCopies(nodes: PageNode[], reference: PageNode, position: Position): PageNode[] | undefined {
  const near = listAt(
    reference,
    position,
    (node) => isPlacedNode(node) || shared.sources.has(readSource(node)),
  );
  const copies: PageNode[] = [];
  for (const node of nodes) {
    const isCopy = (each: PageNode) =>
      !isPlacedNode(each) && !includes(copies, each) && readSource(each) === readSource(node);
    add(copies, find(near, isCopy) ?? node);
  }
  return some(copies, (copy) => includes(nodes, copy)) ? undefined : copies;
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
  const built = buildNodes(compiled);
  const nodes = findCopies(built, element, position) ?? built;
  for (const node of nodes) {
    shared.built.add(node);
    shared.placed.add(node);
    shared.sources.add(readSource(node));
  }
  return {
    watched: () => [element, dom.parentNode(element), nodes[0] && dom.parentNode(nodes[0])],
    isIntact: () => isPlaced(nodes, element, position),
    put() {
      if (!isPlaced(nodes, element, position)) place(nodes, element, position);
    },
    undo() {
      for (const node of nodes) removeNode(node);
    },
  };
}

/** The state of a moved element. If several changes move it, it is at the last of the places. */
export type Moved = {
  /** A comment that stays at the original position. */
  placeholder: Comment;
  /**
   * An empty text after the element, if its new position has the same parent. A framework that inserts a node before the
   * element's next sibling means the original position. Without this text, the next sibling could be another child.
   */
  follower: Text;
  home: PageNode | undefined;
  newParent: PageNode | null | undefined;
  places: { target: PageElement | DocumentFragment; position: Position }[];
};

/** Methods of an element that insert nodes next to it. */
const NEIGHBOUR_METHODS = readWords("before after replaceWith insertAdjacentElement insertAdjacentHTML");

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
  const moved: Moved = shared.moved.get(element) ?? {
    placeholder: dom.createComment(document, ""),
    follower: dom.createTextNode(document, ""),
    home: undefined,
    newParent: undefined,
    places: [],
  };
  shared.moved.set(element, moved);
  const here = { target, position };
  add(moved.places, here);
  const { placeholder, follower } = moved;
  shared.placed.add(follower);

  /** Calls a method that inserts nodes next to the element, as if the element were at its original position. */
  const callAtHome = (name: string, values: unknown[]): unknown => {
    const next = dom.nextSibling(element);
    const { parentNode } = placeholder;
    if (parentNode) insertNode(parentNode, element, placeholder);
    const result: unknown = Reflect.apply(Reflect.get(Element.prototype, name), element, values);
    const parent = dom.parentNode(element);
    if (parent && moved.newParent) {
      insertNode(parent, placeholder, element);
      insertNode(moved.newParent, element, next && dom.parentNode(next) === moved.newParent ? next : null);
    }
    return result;
  };
  const forgetHome = () => {
    const { home } = moved;
    if (!home) return;
    guardParent(home).placeholders.delete(element);
    releaseGuard(home);
    for (const name of NEIGHBOUR_METHODS) Reflect.deleteProperty(element, name);
  };
  return {
    watched: () => [moved.home, moved.newParent, target, dom.parentNode(target)],
    isIntact: () => lastOf(moved.places) !== here || isPlaced([element], target, position),
    isLost: () =>
      !placeholder.isConnected ||
      (dom.isElement(target) && !(dom.isConnected(element) && dom.isConnected(target))),
    put() {
      if (dom.contains(element, target)) throw Error("An element cannot be moved into itself.");
      const parent = dom.parentNode(element);
      if (parent && parent !== moved.newParent) {
        forgetHome();
        moved.home = parent;
        insertNode(parent, placeholder, element);
        guardParent(parent).placeholders.set(element, placeholder);
        for (const name of NEIGHBOUR_METHODS)
          overrideMethod(element, name, (...values: unknown[]) => callAtHome(name, values));
      }
      place([element], target, position);
      moved.newParent = dom.parentNode(element);
      if (moved.newParent && moved.newParent === moved.home)
        insertNode(moved.home, follower, dom.nextSibling(element));
    },
    undo() {
      const { home, newParent, places } = moved;
      const { parentNode } = placeholder;
      // The page may have put the element into another place, or back into its home.
      const isOurs =
        home &&
        dom.parentNode(element) === newParent &&
        (newParent !== home || some(places, (each) => isPlaced([element], each.target, each.position)));
      removeLast(places, here);
      const previous = lastOf(places);
      if (previous && isOurs && parentNode) {
        place([element], previous.target, previous.position);
        moved.newParent = dom.parentNode(element);
      }
      if (previous) return;
      shared.moved.delete(element);
      shared.placed.delete(element);
      forgetHome();
      if (isOurs && parentNode) insertNode(parentNode, element, placeholder);
      else if (isOurs) removeNode(element);
      removeNode(placeholder);
      removeNode(follower);
    },
  };
}
