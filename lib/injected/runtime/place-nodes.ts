import type { PageElement, PageNode } from "../../dom/make-dom.ts";
import { buildNodes } from "./build-nodes.ts";
import { cloneNode, listCopies } from "./copies.ts";
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
  map,
  readWords,
  reverse,
  without,
} from "./lists.ts";
import type { CompiledNode, Position } from "./runtime-types.ts";
import { type Moved, shared } from "./shared-state.ts";

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
const readHtml = (node: PageNode) => (dom.isElement(node) ? dom.outerHTML(node) : dom.textContent(node));

function isPlaced(nodes: PageNode[], reference: PageNode, position: Position): boolean {
  const run = filter(readRun(reference, position), (node) => includes(nodes, node));
  return run.length === nodes.length && every(run, (node, index) => node === nodes[index]);
}

/** Finds the parent of the nodes at this position of the reference node. */
const findParent = (reference: PageNode, position: Position) =>
  position === "start" || position === "end" ? reference : dom.parentNode(reference);

/**
 * Places nodes after the nodes that other changes have already placed at the same position.
 *
 * @throws Error if nodes cannot be placed at this position, for example before the root element.
 */
function place(nodes: PageNode[], reference: PageNode, position: Position): void {
  const parent = findParent(reference, position);
  if (!parent || parent === document) throw Error("There is no such place.");
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

/**
 * Inserts nodes next to or inside an element. If the page moves the element, the nodes follow it. If copies of the nodes
 * are there already, they are used. Copies come back when the page inserts HTML that it read while the nodes were in
 * it, or clones elements with their surroundings. Only nodes that a change has inserted in this document before can have
 * copies.
 */
export function insertNodes(element: PageElement, position: Position, compiled: CompiledNode[]): Effect {
  const near = listAt(element, position, (node) => isPlacedNode(node) || shared.sources.has(readHtml(node)));
  const nodes = map(buildNodes(compiled), (built) => {
    const html = readHtml(built);
    const node = find(near, (each) => !isPlacedNode(each) && readHtml(each) === html) ?? built;
    for (const set of [shared.built, shared.placed, shared.changed]) set.add(node);
    shared.sources.add(html);
    shared.copies.delete(node);
    return node;
  });
  return {
    watched: () => [element, dom.parentNode(element), nodes[0] && dom.parentNode(nodes[0])],
    isIntact: () => isPlaced(nodes, element, position),
    put() {
      if (!isPlaced(nodes, element, position)) place(nodes, element, position);
    },
    undo() {
      for (const node of [...nodes, ...listCopies(nodes)]) removeNode(node);
    },
  };
}

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
  for (const node of [element, placeholder, follower]) shared.changed.add(node);

  /** Puts the element at its original position. If the page has removed that position, it has removed the element. */
  const goHome = () => {
    const { parentNode } = placeholder;
    if (parentNode) insertNode(parentNode, element, placeholder);
    else removeNode(element);
  };
  /** Calls a method that inserts nodes next to the element, as if the element were at its original position. */
  const callAtHome = (name: string, values: unknown[]): unknown => {
    const next = dom.nextSibling(element);
    goHome();
    const result: unknown = Reflect.apply(Reflect.get(Element.prototype, name), element, values);
    const parent = dom.parentNode(element);
    if (parent && moved.newParent) {
      insertNode(parent, placeholder, element);
      insertNode(moved.newParent, element, next && dom.parentNode(next) === moved.newParent ? next : null);
    }
    return result;
  };
  const placeAt = ({ target, position }: Moved["places"][number]) => {
    place([element], target, position);
    const parent = dom.parentNode(element);
    moved.newParent = parent;
    if (parent === moved.home) insertNode(parent, follower, dom.nextSibling(element));
  };
  /** Whether the page itself has put the element elsewhere, be it among the children of its new parent. */
  const hasLeft = () => {
    const parent = dom.parentNode(element);
    return (
      parent !== moved.newParent ||
      (dom.parentNode(follower) === parent && dom.nextSibling(element) !== follower)
    );
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
      // Where the page puts the element is its original position from now on.
      if (parent && hasLeft()) {
        forgetHome();
        moved.home = parent;
        insertNode(parent, placeholder, element);
        guardParent(parent).placeholders.set(element, placeholder);
        for (const name of NEIGHBOUR_METHODS)
          overrideMethod(element, name, (...values: unknown[]) => callAtHome(name, values));
      }
      placeAt(here);
    },
    undo() {
      // The page may have put the element into another place, or back into its home.
      const isOurs = !hasLeft();
      moved.places = without(moved.places, here);
      const previous = lastOf(moved.places);
      if (previous && isOurs) placeAt(previous);
      if (previous) return;
      shared.moved.delete(element);
      shared.placed.delete(element);
      forgetHome();
      if (isOurs) goHome();
      // In a clone, the original place and the new one each come back by themselves.
      const copies = listCopies([placeholder, follower, element]);
      for (const copy of listCopies([placeholder])) {
        const own = cloneNode(element);
        shared.copies.delete(own);
        insertNode(dom.parentNode(copy) ?? placeholder, own, copy);
      }
      map([placeholder, follower, ...copies], removeNode);
    },
  };
}
