import type { PageElement } from "#lib/dom/make-dom.ts";
import { dom } from "../dom.ts";

/**
 * Returns the CSS cursor keyword that a page shows at a point of its viewport. Resolves `auto` as browsers do: `text`
 * over text, `default` elsewhere. Looks into open shadow roots and frames of the same origin.
 */
export function cursorAt(x: number, y: number): string {
  let at = { x, y };
  let element = dom.elementFromPoint(document, x, y);
  for (let depth = 0; element && depth < 16; depth += 1) {
    const inside = lookInside(element);
    if (!inside || inside === element) break;
    element = inside;
  }
  if (!element) return "default";

  function lookInside(outer: PageElement): PageElement | null | undefined {
    const root = dom.shadowRoot(outer);
    if (root) return root.elementFromPoint(at.x, at.y);
    if (dom.localName(outer) !== "iframe") return undefined;
    // The cast is safe: this is the document of a frame; null if the frame is of another origin.
    const inner = dom.property(outer, "contentDocument") as Document | null | undefined;
    if (!inner) return undefined;
    const box = dom.getBoundingClientRect(outer);
    at = { x: at.x - box.x - dom.clientLeft(outer), y: at.y - box.y - dom.clientTop(outer) };
    return dom.elementFromPoint(inner, at.x, at.y);
  }
  function isOverText(inner: Document): boolean {
    const caret = Document.prototype.caretRangeFromPoint.call(inner, at.x, at.y);
    const node = caret?.startContainer;
    if (!caret || !node || !dom.isText(node)) return false;
    const range = Document.prototype.createRange.call(inner);
    range.setStart(node, Math.max(0, caret.startOffset - 1));
    range.setEnd(node, Math.min(dom.textContent(node)?.length ?? 0, caret.startOffset + 1));
    return [...range.getClientRects()].some(
      (box) => at.x >= box.left && at.x <= box.right && at.y >= box.top && at.y <= box.bottom,
    );
  }

  const style = dom.computedStyle(element);
  // The last item of the `cursor` list is always a keyword. Browsers use it if the page's own cursor images do not
  // load.
  const keyword = style.cursor.split(",").at(-1)?.trim() ?? "auto";
  if (keyword !== "auto") return keyword;
  const owner = dom.ownerDocument(element);
  return style.userSelect !== "none" && owner && isOverText(owner) ? "text" : "default";
}
