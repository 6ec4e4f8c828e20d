import type { PageElement, PageNode } from "../../dom/make-dom.ts";
import { buildNodes } from "./build-nodes.ts";
import { cloneNode, listCopies } from "./copies.ts";
import { dom } from "./dom.ts";
import type { Effect } from "./effect.ts";
import { guardParent, insertNode, releaseGuard, removeNode } from "./guard-parent.ts";
import { add, every, filter, find, includes, last, map, readWords, reverse, some, without } from "./lists.ts";
import { popOriginal, recordOriginal } from "./lost-originals.ts";
import { moveElement } from "./place-nodes.ts";
import type { CompiledNode } from "./runtime-types.ts";
import { type Content, shared } from "./shared-state.ts";

/** Whether a node is the comment by which Qwik finds the text after it when it resumes the page. */
const isTextMarker = (node: PageNode) => node instanceof Comment && /^t=/.test(node.data);

/** Lists the child nodes of an element, except nodes that changes have inserted or moved there. */
const listChildren = (element: PageNode) =>
  filter(dom.childNodes(element), (node) => !shared.placed.has(node));

/** Lists the children that the page has rendered while the edit is shown. */
const listForeign = (element: PageElement, { built }: Content) =>
  filter(listChildren(element), (node) => !includes(built, node));

/** Whether the page has changed the text of a built node. React does so if an element's only child is a text node. */
const isWritten = (node: PageNode, { shown }: Content, index: number): node is Text =>
  dom.isText(node) && node.data !== shown?.[index];

/** Gives the page's texts their own values again. */
function restoreTexts(content: Content): void {
  const { texts } = content;
  for (const [text, { own, shown }] of texts) {
    if (text.data === shown) text.data = own;
    content.built = without(content.built, text);
  }
  texts.clear();
  for (const move of reverse(content.moves)) move.undo();
  content.moves = [];
}

/** Shows an edit, and leaves the page's own texts and comments in the element. */
function showInPlace(element: PageElement, content: Content, nodes: CompiledNode[]): void {
  const { texts } = content;
  const children = listChildren(element);
  const [first] = nodes;
  for (const child of listForeign(element, content)) {
    if (!dom.isElement(child)) continue;
    const move = moveElement(child, content.stash, "end");
    move.put();
    add(content.moves, move);
  }
  for (const [text, slot] of texts) {
    if (!includes(children, text)) texts.delete(text);
    else if (text.data !== slot.shown) slot.own = text.data;
  }
  for (const text of listForeign(element, content))
    if (dom.isText(text) && !texts.has(text)) texts.set(text, { own: text.data, shown: text.data });
  const isText = nodes.length === 1 && typeof first === "string";
  const host =
    isText &&
    (find([...texts.keys()], (text) => readWords(texts.get(text)?.own ?? "")[0]) ?? [...texts.keys()][0]);
  if (content.shown !== nodes || isText) {
    for (const node of content.built) if (!texts.has(node as Text)) removeNode(node);
    content.built = host ? [host] : buildNodes(nodes);
  }
  for (const [text, slot] of texts) text.data = slot.shown = text === host ? (first as string) : "";
  if (!host)
    for (const node of content.built) insertNode(element, node, listForeign(element, content)[0] ?? null);
}

function showWithStash(element: PageElement, content: Content, nodes: CompiledNode[] | undefined): void {
  const { stash } = content;
  // The marker marks where the content belongs. Nodes that other changes have inserted at the start come before it, and
  // nodes at the end come after it.
  const marker = insertNode(element, dom.createComment(document, ""), listChildren(element)[0] ?? null);
  shared.placed.add(marker);
  for (const node of listForeign(element, content)) insertNode(stash, node, null);
  if (content.shown !== nodes || content.built.length === 0) {
    map(content.built, removeNode);
    content.built = buildNodes(nodes ?? []);
  }
  for (const node of nodes ? content.built : [stash]) insertNode(element, node, marker);
  removeNode(marker);
}

function show(element: PageElement, content: Content): void {
  const { built, texts, shown } = content;
  const nodes = last(content.edits);
  const wasInPlace = texts.size > 0;
  if (!wasInPlace)
    map(built, (node, index) => {
      if (!isWritten(node, content, index)) return;
      content.stash = new DocumentFragment();
      insertNode(content.stash, dom.createTextNode(document, node.data), null);
      node.data = String(shown?.[index]);
    });
  const children = listChildren(element);
  // If none of the built nodes is left in the element, the page has rendered all of its content again.
  if (!some(children, (node) => includes(built, node))) {
    restoreTexts(content);
    content.stash = new DocumentFragment();
  }
  const own = filter(children, (node) => texts.has(node as Text) || !includes(built, node));
  const isInPlace =
    nodes &&
    (texts.size > 0 || !content.stash.firstChild) &&
    some(own, dom.isText) &&
    (some(own, isTextMarker) || !some(own, dom.isElement));
  if (isInPlace) showInPlace(element, content, nodes);
  else {
    restoreTexts(content);
    if (nodes || !wasInPlace) showWithStash(element, content, nodes);
    else map(content.built, removeNode);
  }
  content.shown = nodes;
  guardParent(element).target = nodes && !isInPlace ? content.stash : element;
  releaseGuard(element);
  if (!nodes) shared.contents.delete(element);
}

function replaceChildren(element: PageNode, nodes: PageNode[]): void {
  map(listChildren(element), removeNode);
  for (const node of nodes) insertNode(element, node, null);
}

/** Replaces the content of a copy by the content that the copied element has after an edit was removed. */
function restoreCopy(copy: PageElement, element: PageElement, before: string | null): void {
  const content = shared.contents.get(copy);
  for (const slot of content?.texts.values() ?? [])
    if (slot.own === before) slot.own = String(dom.textContent(element));
  const own = content?.stash ?? copy;
  if (dom.textContent(own) === before) replaceChildren(own, map(listChildren(element), cloneNode));
}

/** Replaces the content of an element, and keeps the page's own content for `undo`. */
export function setContent(element: PageElement, nodes: CompiledNode[]): Effect {
  const content: Content = shared.contents.get(element) ?? {
    edits: [],
    shown: undefined,
    built: [],
    stash: new DocumentFragment(),
    texts: new Map(),
    moves: [],
  };
  const readKey = () => dom.localName(element) + dom.textContent(element);
  // The cast is safe: this function keeps the child nodes of elements by such keys.
  const lost = popOriginal(readKey())?.original as PageNode[] | undefined;
  if (lost) replaceChildren(element, lost);
  shared.contents.set(element, content);
  shared.changed.add(element);
  add(content.edits, nodes);
  return {
    watched: () => [element],
    isIntact() {
      const { built, shown, texts } = content;
      const children = filter(
        listChildren(element),
        (node) =>
          texts.size === 0 ||
          includes(built, node) ||
          dom.isElement(node) ||
          (node.nodeType !== 8 && texts.get(node as Text)?.shown !== (node as Text).data),
      );
      return (
        shown !== undefined &&
        children.length === built.length &&
        every(built, (node, index) => node === children[index] && !isWritten(node, content, index))
      );
    },
    put: () => show(element, content),
    undo() {
      const key = readKey();
      const before = dom.textContent(element);
      content.edits = without(content.edits, nodes);
      show(element, content);
      if (!dom.isConnected(element)) recordOriginal(key, listChildren(element));
      for (const copy of listCopies([element])) restoreCopy(copy as PageElement, element, before);
    },
  };
}
