import { createPageMembers, type PageMembers } from "./page-members.ts";

/**
 * Returns the CSS cursor keyword that a page shows at a point of its viewport. Resolves `auto` as browsers do: `text`
 * over text, `default` elsewhere. Looks into open shadow roots and frames of the same origin. Runs inside pages, so it
 * must not refer to anything outside its own body.
 */
function cursorAt(x: number, y: number, members: PageMembers): string {
  const { elementFromPoint } = members;
  let at = { x, y };
  let element = elementFromPoint(document, x, y);
  for (let depth = 0; element && depth < 16; depth += 1) {
    const inside = lookInside(element);
    if (!inside || inside === element) break;
    element = inside;
  }
  if (!element) return "default";

  function lookInside(outer: Element): Element | null | undefined {
    const root = members.shadowRoot(outer);
    if (root) return root.elementFromPoint(at.x, at.y);
    if (members.localName(outer) !== "iframe") return undefined;
    const inner = members.contentDocument(outer as HTMLIFrameElement);
    if (!inner) return undefined;
    const box = members.boxOf(outer);
    at = { x: at.x - box.x - members.clientLeft(outer), y: at.y - box.y - members.clientTop(outer) };
    return elementFromPoint(inner, at.x, at.y);
  }
  function isOverText(inner: Document): boolean {
    const caret = Document.prototype.caretRangeFromPoint.call(inner, at.x, at.y);
    const node = caret?.startContainer;
    if (!caret || !node || members.nodeType(node) !== Node.TEXT_NODE) return false;
    const range = Document.prototype.createRange.call(inner);
    range.setStart(node, Math.max(0, caret.startOffset - 1));
    range.setEnd(node, Math.min(members.textContent(node)?.length ?? 0, caret.startOffset + 1));
    return [...range.getClientRects()].some(
      (box) => at.x >= box.left && at.x <= box.right && at.y >= box.top && at.y <= box.bottom,
    );
  }

  const style = getComputedStyle(element);
  // The last item of the `cursor` list is always a keyword. Browsers use it if the page's own cursor images do not
  // load.
  const keyword = style.cursor.split(",").at(-1)?.trim() ?? "auto";
  if (keyword !== "auto") return keyword;
  const owner = members.ownerDocument(element);
  return style.userSelect !== "none" && owner && isOverText(owner) ? "text" : "default";
}

/** Source of an expression that reads the cursor at a point. */
export const cursorScript = (x: number, y: number): string =>
  `(${cursorAt.toString()})(${Number(x)}, ${Number(y)}, (${createPageMembers.toString()})())`;
