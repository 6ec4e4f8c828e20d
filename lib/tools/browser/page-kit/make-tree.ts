/** The page's tree as it is rendered. */
export type TreeKit = {
  /** Whether an element and all that is inside it is not rendered. @param style its computed style. */
  isUnrendered: (element: Element, style: CSSStyleDeclaration) => boolean;
  /** Whether an element lies in a details element that is closed. */
  isFolded: (element: Element) => boolean;
  /** The nodes that are rendered inside an element: of its open shadow root, or those that a slot shows. */
  childrenOf: (element: Element) => Iterable<Node>;
  /** The field that a label stands for because the field itself cannot be seen; null otherwise. */
  hiddenFieldOf: (label: HTMLLabelElement) => Element | null;
};

/** Makes the functions. Runs inside the page, sent as source: it uses nothing from outside its own body. */
export function makeTree(): TreeKit {
  return {
    isUnrendered(element, style) {
      // One call for most elements, because reading styles takes most of the time of a snapshot.
      if (!element.checkVisibility({ opacityProperty: true })) {
        if (style.display === "none") return true;
        if (style.opacity === "0" && !element.matches("input, select, textarea, button, a")) return true;
      }
      // A box without a size that lets nothing show outside of it, such as a closed accordion.
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
