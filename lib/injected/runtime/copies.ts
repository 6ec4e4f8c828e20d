import type { PageNode } from "../../dom/make-dom.ts";
import { dom } from "./dom.ts";
import { add, includes } from "./lists.ts";
import { hook, isFirst, shared } from "./shared-state.ts";

const COPIES_MAX = 500;
/** `NodeFilter.SHOW_ALL` */
const SHOW_ALL = -1;

/**
 * Records which nodes of a clone are copies of nodes that changes have made or changed. A clone keeps what it shows until
 * the changes of its source are reverted.
 */
function recordCopies(source: PageNode, clone: PageNode): void {
  // A node that the page keeps outside the document has no changes. Most clones are made of templates.
  if (!dom.isConnected(source)) return;
  const from = dom.createTreeWalker(document, source, SHOW_ALL);
  const to = dom.createTreeWalker(document, clone, SHOW_ALL);
  const { changed, copies, moved } = shared;
  do {
    const [node, copy] = [from.currentNode, to.currentNode];
    const isMoved = moved.has(node as Element);
    // A moved element that the page clones by itself is meant to stand where the page inserts it.
    if (!changed.has(node) || (isMoved && node === source)) continue;
    copies.set(copy, node);
    changed.add(copy);
    if (isMoved) shared.built.add(copy);
  } while (from.nextNode() && to.nextNode());
  for (const copy of copies.keys()) if (copies.size > COPIES_MAX) copies.delete(copy);
}

/** Lists the copies of nodes, and the copies of these copies. */
export function listCopies(sources: PageNode[]): PageNode[] {
  const found: PageNode[] = [];
  for (const [copy, source] of shared.copies)
    if (includes(sources, source) || includes(found, source)) add(found, copy);
  return found;
}

/** Clones a node with its descendants. */
export function cloneNode(node: PageNode): PageNode {
  const clone = dom.cloneNode(node, true);
  recordCopies(node, clone);
  return clone;
}

if (isFirst) {
  // The casts are safe: the browser has accepted the nodes.
  hook(Node.prototype, "cloneNode", (clone, source) => recordCopies(source as Node, clone as Node));
  hook(Document.prototype, "importNode", (clone, _target, [source]) =>
    recordCopies(source as Node, clone as Node),
  );
}
