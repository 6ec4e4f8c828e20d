import type { PageElement, PageNode } from "#lib/dom/make-dom.ts";
import type { PageKit } from "../page-kit/page-kit.ts";

/**
 * Explains briefly what prevents an action on an element, such as `it is disabled`. Returns an empty string if nothing
 * does. Names from the page are quoted.
 */
export function explainElement(kit: PageKit, element: PageElement): string {
  const { dom } = kit;
  const label = (each: PageElement): string => {
    const role = kit.roleOf(each);
    const name = kit.nameOf(each) || kit.beginningOf(kit.contentOf(each), 60);
    const tag = /^[a-z][a-z0-9-]*$/.test(dom.localName(each)) ? dom.localName(each) : "element";
    return [role ?? tag, ...(name === "" ? [] : [kit.quote(name, 60)])].join(" ");
  };
  const ancestors = (each: PageElement): PageElement[] => {
    const found: PageElement[] = [];
    for (let node: PageNode | null = each; node; ) {
      if (dom.isElement(node)) found.push(node);
      node = node instanceof ShadowRoot ? node.host : dom.parentNode(node);
    }
    return found;
  };
  const explainHidden = (): string => {
    const chain = ancestors(element);
    const details = chain.find((each) => each instanceof HTMLDetailsElement && !each.open);
    if (details && !dom.closest(element, "summary"))
      return `it is not visible: it is in a closed details ${kit.quote(kit.contentOf(dom.querySelector(details, "summary") ?? details), 60)}`;
    if (element instanceof HTMLOptionElement)
      return "it is an option of a list: use selectOption on the list instead";
    const unrendered = chain.filter((each) => dom.computedStyle(each).display === "none").at(-1);
    if (unrendered === element) return "it is not visible: display is none";
    if (unrendered) return `it is not visible: display is none for the ${label(unrendered)} around it`;
    if (dom.computedStyle(element).visibility !== "visible") return "it is not visible: visibility is hidden";
    const { width, height } = dom.getBoundingClientRect(element);
    return width === 0 || height === 0 ? "it is not visible: its size is 0" : "it is not visible";
  };
  const explainCovered = (): string => {
    dom.scrollIntoView(element, { block: "center", inline: "center", behavior: "instant" });
    const { x, y, width, height } = dom.getBoundingClientRect(element);
    const [middleX, middleY] = [x + width / 2, y + height / 2];
    if (middleX < 0 || middleY < 0 || middleX > innerWidth || middleY > innerHeight)
      return "it is outside of the viewport, and scrolling does not bring it in";
    const root = dom.getRootNode(element);
    const top = dom.elementFromPoint(root, middleX, middleY);
    if (!top || dom.contains(element, top) || dom.contains(top, element)) return "";
    const around = dom.closest(top, "label");
    if (around instanceof HTMLLabelElement && around.control === element) return "";
    const above = ancestors(top).filter((each) => !dom.contains(each, element));
    const dialog = above.find((each) =>
      dom.matches(each, "dialog, [role=dialog], [role=alertdialog], [aria-modal=true]"),
    );
    const named = above.find((each) => kit.roleOf(each) !== null);
    return `it is covered by ${label(dialog ?? named ?? above.at(-1) ?? top)}`;
  };
  if (!kit.isVisible(element)) return explainHidden();
  const off = ancestors(element).find((each) => dom.matches(each, "[disabled], [aria-disabled=true]"));
  if (off && (dom.matches(element, ":disabled") || dom.matches(off, "[aria-disabled=true]")))
    return off === element ? "it is disabled" : `it is in a disabled ${label(off)}`;
  if ("readOnly" in element && element.readOnly === true) return "it is read-only";
  return explainCovered();
}
