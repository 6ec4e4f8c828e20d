import type { PageElement, PageNode } from "#lib/dom/make-dom.ts";
import { dom } from "../dom.ts";

/**
 * Describes where an element is among the elements of the page itself, through shadow roots.
 *
 * @param isBuilt whether a change has built an element. Such elements are not counted.
 */
export function describePosition(element: PageElement, isBuilt: (element: PageElement) => boolean): string {
  const steps: string[] = [];
  for (let node: PageNode | null = element; node; node = dom.parentNode(node) ?? dom.host(node)) {
    if (!dom.isElement(node)) continue;
    const name = dom.localName(node);
    const same = dom.siblings(node).filter((each) => dom.localName(each) === name && !isBuilt(each));
    steps.unshift(`${name}[${same.indexOf(node)}]`);
  }
  return steps.join(">");
}
