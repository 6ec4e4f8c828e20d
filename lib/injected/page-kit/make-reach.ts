import type { PageElement, PageNode } from "#lib/dom/make-dom.ts";
import { dom } from "../dom.ts";
import type { SearchKit } from "./make-search.ts";

/** Why people cannot use an element that they see. Null if they can. */
type Obstacle = "inert" | "behind dialog" | null;

/**
 * Creates a function that says whether an element is inert, because of the attribute `inert` or an open modal dialog
 * around which everything is inert, or is behind another element with `aria-modal`. It
 * looks for them once.
 */
export function makeReach(search: SearchKit): (element: PageElement) => Obstacle {
  let found: { hasInert: boolean; modal: PageElement | undefined; overlays: PageElement[] } | undefined;
  const findObstacles = () => {
    const open = search
      .queryAll("dialog:modal, [aria-modal=true]")
      .filter((dialog) => search.isVisible(dialog));
    const modals = open.filter((dialog) => dom.matches(dialog, "dialog:modal"));
    // The dialog that was opened last covers the others.
    const top = modals.findLast((dialog) => isWithin(hitCenter(dialog), dialog)) ?? modals.at(-1);
    const hasInert = search.queryAll("[inert]").length > 0;
    return { hasInert, modal: top, overlays: open.filter((dialog) => !modals.includes(dialog)) };
  };
  const isBehind = (element: PageElement, dialog: PageElement): boolean => {
    if (isWithin(element, dialog) || isWithin(dialog, element)) return false;
    if (closestAround(element, "[aria-hidden=true]")) return true;
    const { x, y, width, height } = dom.getBoundingClientRect(element);
    const [middleX, middleY] = [x + width / 2, y + height / 2];
    const isInView = middleX >= 0 && middleY >= 0 && middleX < innerWidth && middleY < innerHeight;
    // Outside of the view, only the order of the document tells. The page is usually before its dialogs.
    if (!isInView) return Boolean(dom.compareDocumentPosition(element, dialog) & DOCUMENT_POSITION_FOLLOWING);
    const top = hitCenter(element);
    return (
      top !== null &&
      !isWithin(top, element) &&
      !isWithin(element, top) &&
      isWithin(top, outermostApart(dialog, element))
    );
  };
  return (element) => {
    found ??= findObstacles();
    const { hasInert, modal, overlays } = found;
    if (hasInert && closestAround(element, "[inert]")) return "inert";
    if (modal) return isWithin(element, modal) || isWithin(modal, element) ? null : "inert";
    return overlays.length > 0 && overlays.every((dialog) => isBehind(element, dialog))
      ? "behind dialog"
      : null;
  };
}

const DOCUMENT_POSITION_FOLLOWING = 4;

/** The parent of a node in the page as it is rendered: the host, for a shadow root. */
const parentOf = (node: PageNode): PageNode | null => dom.host(node) ?? dom.parentNode(node);

function isWithin(inner: PageNode | null, outer: PageNode): boolean {
  for (let node = inner; node; node = parentOf(node)) if (node === outer) return true;
  return false;
}

/** Like `closest`, but also looks outside of the shadow roots that contain the element. */
function closestAround(element: PageElement, selector: string): PageElement | null {
  for (let node: PageNode | null = element; node; ) {
    const match = dom.isElement(node) ? dom.closest(node, selector) : null;
    if (match) return match;
    node = dom.host(dom.getRootNode(node));
  }
  return null;
}

/** The outermost element that contains `inner` but not `other`, such as the backdrop's parent in a dialog library. */
function outermostApart(inner: PageElement, other: PageElement): PageNode {
  let outermost: PageNode = inner;
  for (let node = parentOf(inner); node && !isWithin(other, node); node = parentOf(node)) outermost = node;
  return outermost;
}

/** The innermost element at the center of an element, also in shadow roots. */
function hitCenter(element: PageElement): PageElement | null {
  const { x, y, width, height } = dom.getBoundingClientRect(element);
  let root: PageNode = document;
  for (;;) {
    const hit = dom.elementFromPoint(root, x + width / 2, y + height / 2);
    const inner = hit && dom.shadowRoot(hit);
    if (!inner || inner === root) return hit;
    root = inner;
  }
}
