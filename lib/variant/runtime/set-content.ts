import type { PageElement, PageNode } from "../../dom/make-dom.ts";
import { buildNodes } from "./build-nodes.ts";
import { dom } from "./dom.ts";
import type { Effect } from "./effect.ts";
import { guardParent, insertNode, releaseGuard, removeNode } from "./guard-parent.ts";
import { add, every, filter, includes, last, map, removeLast } from "./lists.ts";
import type { CompiledNode } from "./runtime-types.ts";
import { shared } from "./shared-state.ts";

/** The state of an element whose content is replaced by changes. If there are several edits, the last one is shown. */
export type Content = {
  edits: CompiledNode[][];
  shown: CompiledNode[] | undefined;
  /** The nodes of the edit that is shown. */
  built: PageNode[];
  /**
   * Contains the page's own nodes while other content is shown. A framework can still work on these nodes: it changes
   * their texts directly, and a guard redirects its insertions and removals to this fragment.
   */
  stash: DocumentFragment;
};

/** Lists the child nodes of an element, except nodes that changes have inserted or moved there. */
const listChildren = (element: PageElement) =>
  filter(dom.childNodes(element), (node) => !shared.placed.has(node));

/** Whether the page has changed the text of a built node. React does so if an element's only child is a text node. */
const isWritten = (node: PageNode, content: Content, index: number): node is Text =>
  dom.isText(node) && node.data !== content.shown?.[index];

/**
 * Moves into the stash the nodes that the page itself has rendered in the element. If none of the built nodes is left
 * in the element, the page has rendered all of its content again, so the old stash is emptied first.
 */
function absorb(element: PageElement, { built, stash }: Content): void {
  const children = listChildren(element);
  const foreign = filter(children, (node) => !includes(built, node));
  if (foreign.length === children.length) stash.replaceChildren();
  for (const node of foreign) insertNode(stash, node, null);
}

function show(element: PageElement, content: Content): void {
  const { built, stash, shown } = content;
  const nodes = last(content.edits);
  map(built, (node, index) => {
    if (!isWritten(node, content, index)) return;
    stash.replaceChildren(node.data);
    node.data = String(shown?.[index]);
  });
  // The marker marks where the content belongs. Nodes that other changes have inserted at the start come before it, and
  // nodes at the end come after it.
  const marker = insertNode(element, dom.createComment(document, ""), listChildren(element)[0] ?? null);
  shared.placed.add(marker);
  absorb(element, content);
  if (shown !== nodes) {
    map(built, removeNode);
    content.built = buildNodes(nodes ?? []);
  }
  for (const node of nodes ? content.built : [stash]) insertNode(element, node, marker);
  removeNode(marker);
  content.shown = nodes;
  guardParent(element).target = nodes ? stash : element;
  if (nodes) return;
  releaseGuard(element);
  shared.contents.delete(element);
}

/** Replaces the content of an element, and keeps the page's own content for `undo`. */
export function setContent(element: PageElement, nodes: CompiledNode[]): Effect {
  const content: Content = shared.contents.get(element) ?? {
    edits: [],
    shown: undefined,
    built: [],
    stash: new DocumentFragment(),
  };
  shared.contents.set(element, content);
  add(content.edits, nodes);
  return {
    nodes: () => [element],
    isIntact() {
      const children = listChildren(element);
      const { built, shown } = content;
      return (
        shown !== undefined &&
        children.length === built.length &&
        every(built, (node, index) => node === children[index] && !isWritten(node, content, index))
      );
    },
    apply: () => show(element, content),
    undo() {
      removeLast(content.edits, nodes);
      show(element, content);
    },
  };
}
