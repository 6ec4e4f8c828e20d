import type { PageElement, PageNode } from "#lib/dom/make-dom.ts";
import { dom } from "../dom.ts";

/** Functions that tell which elements of the page are rendered, and what is rendered inside of them. */
export type TreeKit = {
  /** Whether an element and everything inside it are not rendered. @param style the element's computed style. */
  isUnrendered: (element: PageElement, style: CSSStyleDeclaration) => boolean;
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

/** @see TreeKit */
export const tree: TreeKit = {
  isUnrendered(element, style) {
    // `checkVisibility` is called first, because most elements are visible, and reading their computed styles is
    // slow.
    if (!dom.checkVisibility(element, { opacityProperty: true })) {
      if (style.display === "none") return true;
      if (style.opacity === "0" && !dom.matches(element, "input, select, textarea, button, a")) return true;
    }
    // A box without width or height that clips its content, such as a closed accordion, also shows nothing.
    if (dom.clientHeight(element) > 0 && dom.clientWidth(element) > 0) return false;
    return (
      /hidden|clip/.test(style.overflow) &&
      !/inline|contents/.test(style.display) &&
      style.position !== "absolute"
    );
  },
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
