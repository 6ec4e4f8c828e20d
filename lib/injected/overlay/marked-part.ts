import type { PageElement, PageNode } from "#lib/dom/make-dom.ts";
import { beginningOf } from "#lib/text/whole-characters.ts";
import { dom } from "../dom.ts";

/** Largest length of a selected text, in UTF-16 units, and how many nodes are read for it. */
const QUOTE_UNITS_MAX = 1_000;
const NODES_MAX = 5_000;
/** How many elements around a node are compared with an area. */
const DEPTH_MAX = 500;

/**
 * Finds the smallest element around a node that contains an area. The document's root element if none does.
 *
 * @param left, top, right, bottom the area, as parts of the viewport's width and height.
 */
export function elementAround(
  node: PageNode,
  left: number,
  top: number,
  right: number,
  bottom: number,
): PageElement | null {
  const contains = (element: PageElement) => {
    const box = dom.getBoundingClientRect(element);
    return (
      // A pixel of tolerance, because the coordinates were rounded.
      box.left <= left * innerWidth + 1 &&
      box.top <= top * innerHeight + 1 &&
      box.right >= right * innerWidth - 1 &&
      box.bottom >= bottom * innerHeight - 1
    );
  };
  let at = dom.isElement(node) ? node : outerOf(node);
  for (let depth = 0; at && depth < DEPTH_MAX; depth += 1) {
    if (contains(at)) return at;
    at = outerOf(at);
  }
  return dom.documentElement(document);
}

/** The element around a node, also around the shadow root that it is in. */
function outerOf(node: PageNode): PageElement | null {
  const parent = dom.parentElement(node);
  if (parent) return parent;
  const root = dom.getRootNode(node);
  return root instanceof ShadowRoot ? root.host : null;
}

/** Finds the element that contains the text between two points of the viewport. Null if there is no text. */
export function selectedElement(node: PageNode, ...points: Points): PageElement | null {
  const range = selectBetween(node, ...points);
  if (!range) return null;
  const { commonAncestorContainer: container } = range;
  return dom.isElement(container) ? container : dom.parentElement(container);
}

/** Reads the text between two points of the viewport, and its box as parts of the viewport. Null if there is none. */
export function readSelection(
  node: PageNode,
  ...points: Points
): { quote: string; part: { x: number; y: number; width: number; height: number } } | null {
  const range = selectBetween(node, ...points);
  if (!range) return null;
  const quote = readQuote(range);
  const { left, top, width, height } = range.getBoundingClientRect();
  if (quote === "" || width === 0) return null;
  const part = {
    x: left / innerWidth,
    y: top / innerHeight,
    width: width / innerWidth,
    height: height / innerHeight,
  };
  return { quote, part };
}

/** Where a selection starts and ends, as parts of the viewport's width and height. */
type Points = [startX: number, startY: number, endX: number, endY: number];

/** Selects between two points, without the page's own selection. Null if they are not in one tree of nodes. */
function selectBetween(
  node: PageNode,
  startX: number,
  startY: number,
  endX: number,
  endY: number,
): Range | null {
  const shadowRoots: ShadowRoot[] = [];
  for (let at: PageNode | null = node; at; ) {
    const root: PageNode = dom.getRootNode(at);
    if (!(root instanceof ShadowRoot)) break;
    shadowRoots.push(root);
    at = root.host;
  }
  const caretAt = (x: number, y: number) =>
    Document.prototype.caretPositionFromPoint.call(document, x * innerWidth, y * innerHeight, {
      shadowRoots,
    });
  const start = caretAt(startX, startY);
  const end = caretAt(endX, endY);
  if (!start || !end || dom.getRootNode(start.offsetNode) !== dom.getRootNode(end.offsetNode)) return null;
  const range = Document.prototype.createRange.call(document);
  try {
    range.setStart(start.offsetNode, start.offset);
    range.setEnd(end.offsetNode, end.offset);
    // A range whose end is moved before its start becomes empty there.
    if (range.collapsed) range.setEnd(start.offsetNode, start.offset);
  } catch {
    // The position is in the text of a form field, which is no node.
    return null;
  }
  return range.collapsed ? null : range;
}

function readQuote(range: Range): string {
  const { startContainer, endContainer, startOffset, endOffset, commonAncestorContainer } = range;
  const textOf = (node: PageNode) => {
    const text = dom.textContent(node) ?? "";
    const end = node === endContainer ? endOffset : text.length;
    return text.slice(node === startContainer ? startOffset : 0, end);
  };
  if (dom.isText(commonAncestorContainer)) return tidy(textOf(commonAncestorContainer));
  const walker = dom.createTreeWalker(document, commonAncestorContainer, NodeFilter.SHOW_TEXT);
  let quote = "";
  let lastBlock: PageElement | null = null;
  for (let count = 0; count < NODES_MAX; count += 1) {
    const node = walker.nextNode();
    if (!node) break;
    const parent = dom.parentElement(node);
    if (!range.intersectsNode(node) || !parent || !dom.checkVisibility(parent)) continue;
    const block = blockOf(parent);
    quote += (block === lastBlock ? "" : " ") + textOf(node);
    lastBlock = block;
  }
  return tidy(quote);
}

/** The element whose lines of text contain an element. */
function blockOf(element: PageElement): PageElement {
  let at = element;
  for (let depth = 0; depth < DEPTH_MAX && dom.computedStyle(at).display === "inline"; depth += 1) {
    const parent = dom.parentElement(at);
    if (!parent) break;
    at = parent;
  }
  return at;
}

const tidy = (text: string) => beginningOf(text.replace(/\s+/g, " ").trim(), QUOTE_UNITS_MAX);
