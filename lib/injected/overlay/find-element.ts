import type { PageElement, PageNode } from "#lib/dom/make-dom.ts";
import { dom } from "../dom.ts";
import { makeNames } from "../page-kit/make-names.ts";
import { makeSearch } from "../page-kit/make-search.ts";
import { roleOf } from "../page-kit/role-of.ts";
import { visibleTextOf } from "./describe-element.ts";

/** What an annotation remembers of its element within its frame, besides the selector. Unknown values are null. */
export type ElementTraits = {
  tag: string | null;
  role: string | null;
  name: string | null;
  text: string | null;
  /** The middle of the element in the document, which decides between several elements that match. */
  center: { x: number; y: number } | null;
};

/** How many elements are compared by name or text: both are slow to read. */
const CANDIDATES_MAX = 500;

/** Finds the only element below a node that a selector matches. Null if there is none, or the selector is invalid. */
export function queryOne(node: PageNode, selector: string): PageElement | null {
  try {
    // The cast is safe: the service passes documents, elements and shadow roots.
    const found = dom.querySelectorAll(node as PageElement, selector);
    return found.length === 1 ? (found[0] ?? null) : null;
  } catch {
    return null;
  }
}

/** Like {@link queryOne}, in the document outside of shadow roots. */
export const queryDocument = (selector: string): PageElement | null => queryOne(document, selector);

/**
 * Whether an element that the selector has found is the annotated one. A selector that counts elements also matches
 * another element after one was removed, so the element needs the name or the text of the annotated one as well.
 */
export function hasTraits(element: PageElement, traits: ElementTraits, isCounted: boolean): boolean {
  if (traits.tag !== null && dom.localName(element) !== traits.tag) return false;
  if (!isCounted || (traits.name === null && traits.text === null)) return true;
  return isNamed(element, traits) || isWorded(element, traits);
}

/** Finds an element by role and name in the document and its open shadow roots. */
export function findByRole(traits: ElementTraits): PageElement | null {
  if (traits.role === null || traits.name === null) return null;
  return nearest(
    candidatesFor(traits, (element) => roleOf(element) === traits.role).filter((element) =>
      isNamed(element, traits),
    ),
    traits,
  );
}

/** Finds an element by tag and text in the document and its open shadow roots. */
export function findByText(traits: ElementTraits): PageElement | null {
  if (traits.text === null) return null;
  return nearest(
    candidatesFor(traits, () => true).filter((element) => isWorded(element, traits)),
    traits,
  );
}

function candidatesFor(traits: ElementTraits, isWanted: (element: PageElement) => boolean): PageElement[] {
  const search = makeSearch();
  const all = search
    .roots()
    .flatMap((root) => dom.querySelectorAll(root, traits.tag === null ? "*" : CSS.escape(traits.tag)));
  return all
    .filter((element) => isWanted(element) && search.isVisible(element) && !search.isOverlay(element))
    .slice(0, CANDIDATES_MAX);
}

const isNamed = (element: PageElement, { name }: ElementTraits) =>
  name !== null && makeNames(makeSearch()).nameOf(element) === name;
const isWorded = (element: PageElement, { text }: ElementTraits) =>
  text !== null && visibleTextOf(element) === text;

function nearest(found: PageElement[], { center }: ElementTraits): PageElement | null {
  const distance = (element: PageElement) => {
    const { left, top, width, height } = dom.getBoundingClientRect(element);
    if (!center) return 0;
    return Math.hypot(left + width / 2 + scrollX - center.x, top + height / 2 + scrollY - center.y);
  };
  return found.toSorted((one, other) => distance(one) - distance(other))[0] ?? null;
}
