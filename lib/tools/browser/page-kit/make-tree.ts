/** The rendered tree of the page. */
export type TreeKit = {
  /** Whether an element and its whole content are not rendered. @param style the element's computed style. */
  isUnrendered: (element: Element, style: CSSStyleDeclaration) => boolean;
  /** Whether an element is hidden in a closed details element. */
  isFolded: (element: Element) => boolean;
  /** The nodes rendered inside an element: its children, those of its open shadow root, or those assigned to a slot. */
  childrenOf: (element: Element) => Iterable<Node>;
  /** The field of a label, if people use the label because the field itself is hidden; null otherwise. */
  hiddenFieldOf: (label: HTMLLabelElement) => Element | null;
};

/** Creates the functions of `TreeKit`. Runs inside the page, sent as source: it uses nothing from outside its own body. */
export function makeTree(): TreeKit {
  return {
    isUnrendered(element, style) {
      // This call is enough for most elements; reading styles takes most of the time of a snapshot.
      if (!element.checkVisibility({ opacityProperty: true })) {
        if (style.display === "none") return true;
        if (style.opacity === "0" && !element.matches("input, select, textarea, button, a")) return true;
      }
      // A box without a size that clips its content, such as a closed accordion.
      if (element.clientHeight > 0 && element.clientWidth > 0) return false;
      return (
        /hidden|clip/.test(style.overflow) &&
        !/inline|contents/.test(style.display) &&
        style.position !== "absolute"
      );
    },
    isFolded: (element) =>
      element.parentElement instanceof HTMLDetailsElement &&
      !element.parentElement.open &&
      element.localName !== "summary",
    childrenOf(element) {
      if (element instanceof HTMLSlotElement && element.assignedNodes().length > 0)
        return element.assignedNodes();
      return (element.shadowRoot ?? element).childNodes;
    },
    hiddenFieldOf(label) {
      const field = label.control;
      if (!(field instanceof HTMLInputElement) || !/^(checkbox|radio|file)$/.test(field.type)) return null;
      const style = getComputedStyle(field);
      const { width, height } = field.getBoundingClientRect();
      const isUnusable =
        style.display === "none" || style.visibility !== "visible" || width < 3 || height < 3;
      return isUnusable ? field : null;
    },
  };
}
