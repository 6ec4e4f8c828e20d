import type { PageElement, PageNode } from "#lib/dom/make-dom.ts";
import type { PageKit } from "../page-kit/page-kit.ts";

const DIALOG = "dialog, [role=dialog], [role=alertdialog], [aria-modal=true]";

/** What receives a click on the middle of an element in its place. */
type Cover = "outside" | { element: PageElement; isDialog: boolean };

/** Lists an element and its ancestors, also those outside of its shadow root. */
export function ancestorsOf({ dom }: PageKit, element: PageElement): PageElement[] {
  const found: PageElement[] = [];
  for (let node: PageNode | null = element; node; ) {
    if (dom.isElement(node)) found.push(node);
    node = node instanceof ShadowRoot ? node.host : dom.parentNode(node);
  }
  return found;
}

/**
 * Finds what covers the middle of an element. `outside` means that the middle is not in the viewport. Undefined if
 * nothing covers it.
 */
export function findCover(kit: PageKit, element: PageElement): Cover | undefined {
  const { dom } = kit;
  const { x, y, width, height } = dom.getBoundingClientRect(element);
  const [middleX, middleY] = [x + width / 2, y + height / 2];
  if (middleX < 0 || middleY < 0 || middleX > innerWidth || middleY > innerHeight) return "outside";
  const top = dom.elementFromPoint(dom.getRootNode(element), middleX, middleY);
  if (!top || dom.contains(element, top) || dom.contains(top, element)) return undefined;
  const around = dom.closest(top, "label");
  if (around instanceof HTMLLabelElement && around.control === element) return undefined;
  const above = ancestorsOf(kit, top).filter((each) => !dom.contains(each, element));
  const dialog = above.find((each) => dom.matches(each, DIALOG));
  const named = above.find((each) => kit.roleOf(each) !== null);
  return { element: dialog ?? named ?? above.at(-1) ?? top, isDialog: dialog !== undefined };
}

/**
 * Finds the open dialog that turns off an element, such as a modal one: the element takes no input, and nothing covers
 * it. Undefined if there is none.
 */
export function findModal(kit: PageKit, element: PageElement): PageElement | undefined {
  const { dom } = kit;
  const open = kit
    .queryAll(DIALOG)
    .filter((each) => kit.isVisible(each) && !ancestorsOf(kit, element).includes(each));
  const modal = open.findLast((each) => dom.matches(each, "dialog:modal"));
  const isOff =
    dom.closest(element, "[inert]") !== null || dom.computedStyle(element).pointerEvents === "none";
  return modal ?? (isOff ? open.at(-1) : undefined);
}
