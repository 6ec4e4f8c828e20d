/**
 * Returns the CSS cursor keyword that a page shows at a point of its viewport. Resolves `auto` as browsers do: `text`
 * over text, `default` elsewhere. Looks into open shadow roots, frames of the same origin and the overlay's own closed
 * root. Runs inside pages, so it must not refer to anything outside its own body.
 */
export function cursorAt(
  x: number,
  y: number,
  overlay: { host: Element; root: ShadowRoot } | undefined,
): string {
  let at = { x, y };
  let element = document.elementFromPoint(x, y);
  for (let depth = 0; element && depth < 16; depth += 1) {
    const inside = lookInside(element);
    if (!inside || inside === element) break;
    element = inside;
  }
  if (!element) return "default";

  function lookInside(outer: Element): Element | null | undefined {
    if (outer === overlay?.host) return overlay.root.elementFromPoint(at.x, at.y);
    if (outer.shadowRoot) return outer.shadowRoot.elementFromPoint(at.x, at.y);
    if (outer.localName !== "iframe") return undefined;
    const inner = (outer as HTMLIFrameElement).contentDocument;
    if (!inner) return undefined;
    const box = outer.getBoundingClientRect();
    at = { x: at.x - box.x - outer.clientLeft, y: at.y - box.y - outer.clientTop };
    return inner.elementFromPoint(at.x, at.y);
  }
  function isOverText(document: Document): boolean {
    const caret = document.caretRangeFromPoint(at.x, at.y);
    const node = caret?.startContainer;
    if (!caret || node?.nodeType !== Node.TEXT_NODE) return false;
    const range = document.createRange();
    range.setStart(node, Math.max(0, caret.startOffset - 1));
    range.setEnd(node, Math.min(node.textContent?.length ?? 0, caret.startOffset + 1));
    return [...range.getClientRects()].some(
      (box) => at.x >= box.left && at.x <= box.right && at.y >= box.top && at.y <= box.bottom,
    );
  }

  const style = getComputedStyle(element);
  // The last item of the `cursor` list is always a keyword. Browsers use it if the page's own cursor images do not
  // load.
  const keyword = style.cursor.split(",").at(-1)?.trim() ?? "auto";
  if (keyword !== "auto") return keyword;
  return style.userSelect !== "none" && isOverText(element.ownerDocument) ? "text" : "default";
}
