import type { PageElement, PageNode } from "#lib/dom/make-dom.ts";
import { dom } from "../dom.ts";

/** Functions that tell which elements of the page are rendered, and what is rendered inside of them. */
export type TreeKit = {
  /** Whether an element and everything inside it are not rendered. @param style the element's computed style. */
  isUnrendered: (element: PageElement, style: CSSStyleDeclaration) => boolean;
  /**
   * Whether an element and what is inside it are transparent. People can still use the fields inside it: libraries put
   * transparent fields over what they draw. A transparent link or button usually appears under the pointer, so it does
   * not count.
   */
  isTransparent: (element: PageElement, style: CSSStyleDeclaration) => boolean;
  /** Whether an element is hidden because it is in a closed `<details>` element. */
  isFolded: (element: PageElement) => boolean;
  /**
   * The nodes that are rendered inside an element: the children of its open shadow root, the nodes assigned to it if it
   * is a slot, or otherwise its children.
   */
  childrenOf: (element: PageElement) => Iterable<PageNode>;
  /**
   * The checkbox, radio button or file field of a label, if the field is hidden, so that people must click the label
   * instead. Null if the label has no such field.
   */
  hiddenFieldOf: (label: HTMLLabelElement) => Element | null;
};

/**
 * Whether an element is the native field behind a control that a library draws. People do not see such a field, and the
 * accessibility tree does not have it.
 */
const isTwin = (element: PageElement, style: CSSStyleDeclaration): boolean => {
  const isField =
    element instanceof HTMLInputElement ||
    element instanceof HTMLSelectElement ||
    element instanceof HTMLTextAreaElement;
  if (!isField || !dom.closest(element, "[aria-hidden=true]")) return false;
  if (dom.getAttribute(element, "tabindex") === "-1") return true;
  const { width, height } = dom.getBoundingClientRect(element);
  return style.opacity === "0" || style.pointerEvents === "none" || width < 3 || height < 3;
};

/** @see TreeKit */
export const tree: TreeKit = {
  isUnrendered(element, style) {
    if (style.display === "none" || style.contentVisibility === "hidden" || isTwin(element, style))
      return true;
    // A box without width or height that clips its content, such as a closed accordion, also shows nothing.
    if (dom.clientHeight(element) > 0 && dom.clientWidth(element) > 0) return false;
    return (
      /hidden|clip/.test(style.overflow) &&
      !/inline|contents/.test(style.display) &&
      style.position !== "absolute"
    );
  },
  isTransparent: (element, style) =>
    style.opacity === "0" && !dom.matches(element, "input, select, textarea, button, a"),
  isFolded(element) {
    const parent = dom.parentElement(element);
    return parent instanceof HTMLDetailsElement && !parent.open && dom.localName(element) !== "summary";
  },
  childrenOf(element) {
    if (element instanceof HTMLSlotElement && element.assignedNodes().length > 0)
      return element.assignedNodes();
    return dom.childNodes(dom.shadowRoot(element) ?? element);
  },
  hiddenFieldOf(label) {
    const field = label.control;
    if (!(field instanceof HTMLInputElement) || !/^(checkbox|radio|file)$/.test(field.type)) return null;
    const style = dom.computedStyle(field);
    const { width, height } = dom.getBoundingClientRect(field);
    const isUnusable = style.display === "none" || style.visibility !== "visible" || width < 3 || height < 3;
    return isUnusable ? field : null;
  },
};
