import type { PageElement } from "#lib/dom/make-dom.ts";
import { describeBySystem, type SystemDescription } from "../page-kit/described-elements.ts";
import type { PageKit } from "../page-kit/page-kit.ts";

/** What counts as a control inside a custom element. The snapshot shows it, so the custom element needs no role. */
const INNER_CONTROLS = "a[href], button, input, select, textarea, [role], [tabindex]";

let found: PageElement[] = [];

/**
 * Finds custom elements that may have a role by `ElementInternals`: visible ones without a role attribute and without
 * controls in their shadow root.
 * @returns how many were found, at most `max`. {@link foundCustomElements} returns them.
 */
export function findCustomElements(kit: PageKit, max: number): number {
  const { dom } = kit;
  const isCandidate = (element: PageElement): boolean => {
    if (!dom.localName(element).includes("-") || dom.hasAttribute(element, "role")) return false;
    const shadowRoot = dom.shadowRoot(element);
    if (shadowRoot && dom.querySelector(shadowRoot, INNER_CONTROLS)) return false;
    return kit.isVisible(element) && !kit.isOverlay(element);
  };
  found = [];
  for (const root of kit.roots())
    for (const element of dom.querySelectorAll(root, ":defined"))
      if (found.length < max && isCandidate(element)) found.push(element);
  return found.length;
}

/** The elements that the last call of {@link findCustomElements} has found. */
export const foundCustomElements = (): PageElement[] => found;

/** Keeps how the accessibility tree describes the found elements, in the same order. */
export function describeCustomElements(_kit: PageKit, descriptions: (SystemDescription | null)[]): void {
  for (const [index, description] of descriptions.entries()) {
    const element = found[index];
    if (element && description) describeBySystem(element, description);
  }
  found = [];
}
