import type { PageElement, PageNode, PageRoot } from "#lib/dom/make-dom.ts";
import { beginningOf } from "#lib/text/whole-characters.ts";
import { dom } from "../dom.ts";
import { makeNames } from "../page-kit/make-names.ts";
import { makeSearch } from "../page-kit/make-search.ts";
import { roleOf } from "../page-kit/role-of.ts";

/** The part of an element's description that its own frame knows. */
export type ElementInFrame = {
  selector: string;
  shadowSelector: string | null;
  element: string;
  /** The ARIA role and the accessible name; null if the element has none. */
  role: string | null;
  name: string | null;
  text: string;
  title: string;
  url: string;
};

/**
 * Finds the element for a node that DevTools found at a point of its frame's viewport. DevTools finds no inert elements,
 * only what contains them, so it looks for an inert descendant at the point; of several, it takes the last in the
 * document's order.
 * @param x, y the point, as parts of the viewport's width and height.
 */
export function refineElement(node: PageNode, x: number, y: number): PageElement | null {
  const point = { x: x * innerWidth, y: y * innerHeight };
  const found = dom.isElement(node) ? node : dom.parentElement(node);
  let remaining = 20_000;
  return found && (findInert(found, isInert(found), 0) ?? found);

  function isInert(element: PageElement): boolean {
    for (let at: PageElement | null = element; at; at = dom.parentElement(at))
      if (dom.hasAttribute(at, "inert")) return true;
    return false;
  }
  function findInert(outer: PageElement, isOuterInert: boolean, depth: number): PageElement | undefined {
    const root = dom.shadowRoot(outer);
    const children = dom.children(root ?? outer);
    for (const child of children.toReversed()) {
      remaining -= 1;
      if (remaining < 0 || depth > 500) return undefined;
      const isChildInert = isOuterInert || dom.hasAttribute(child, "inert");
      const inner = findInert(child, isChildInert, depth + 1);
      if (inner) return inner;
      const box = dom.getBoundingClientRect(child);
      const isAtPoint =
        point.x >= box.left && point.x < box.right && point.y >= box.top && point.y < box.bottom;
      if (isChildInert && isAtPoint && dom.checkVisibility(child, { visibilityProperty: true })) return child;
    }
    return undefined;
  }
}

/**
 * Describes an element by selector, role, name, text and label. The selector matches only this element in its frame; it prefers ids
 * and attributes that the page's author chose. Parts in open shadow roots are joined with ` >> `.
 */
export function describeElement(target: PageElement): ElementInFrame {
  const { localName, getAttribute } = dom;

  const isUnique = (root: PageRoot, selector: string) => dom.querySelectorAll(root, selector).length === 1;
  const escapeValue = (value: string) => value.replace(/["\\]/g, "\\$&").replace(/\n/g, "\\a ");

  /** Builds a selector from an id or attribute that the page's author chose; skips ids that look generated. */
  function namedSelector(root: PageRoot, element: PageElement): string | undefined {
    const id = dom.id(element);
    const isLasting =
      id !== "" &&
      id.length <= 80 &&
      !/\d{3,}|^:|[:«»]|^(radix|react|ember|mui|headlessui)-/i.test(id) &&
      isUnique(root, `#${CSS.escape(id)}`);
    if (isLasting) return `#${CSS.escape(id)}`;
    const names = ["data-testid", "data-test", "data-cy", "data-qa", "name", "aria-label", "href"];
    for (const name of names) {
      const value = getAttribute(element, name);
      if (!value || value.length > 80) continue;
      const selector = `${CSS.escape(localName(element))}[${name}="${escapeValue(value)}"]`;
      if (isUnique(root, selector)) return selector;
    }
    return undefined;
  }
  function stepOf(element: PageElement): string {
    const name = localName(element);
    let before = 0;
    let after = 0;
    for (let at = dom.previousElementSibling(element); at; at = dom.previousElementSibling(at))
      if (localName(at) === name) before += 1;
    for (let at = dom.nextElementSibling(element); at; at = dom.nextElementSibling(at))
      if (localName(at) === name) after += 1;
    return CSS.escape(name) + (before + after > 0 ? `:nth-of-type(${before + 1})` : "");
  }
  function selectorWithin(root: PageRoot, element: PageElement): string {
    const steps: string[] = [];
    for (let at: PageElement | null = element; at; at = dom.parentElement(at)) {
      const named = namedSelector(root, at);
      if (named !== undefined) return [named, ...steps].join(" > ");
      steps.unshift(stepOf(at));
      if (dom.parentElement(at) && isUnique(root, steps.join(" > "))) break;
    }
    return steps.join(" > ");
  }
  /** Returns the selectors of the element and of the hosts of its shadow roots, and which of these roots are closed. */
  function pathOf(element: PageElement): { selector: string; isClosed: boolean }[] {
    // The cast is safe: an element that is shown has the document or a shadow root as its root.
    const root = dom.getRootNode(element) as PageRoot;
    const selector = beginningOf(selectorWithin(root, element), 2_000);
    if (!(root instanceof ShadowRoot)) return [{ selector, isClosed: false }];
    // Pages' isolated worlds see open shadow roots only, like the agent's selectors.
    return [...pathOf(root.host), { selector, isClosed: dom.shadowRoot(root.host) !== root }];
  }

  const path = pathOf(target);
  const firstClosed = path.findIndex(({ isClosed }) => isClosed);
  const join = (parts: typeof path) => parts.map(({ selector }) => selector).join(" >> ");
  const text = visibleTextOf(target);
  const label = getAttribute(target, "aria-label") ?? getAttribute(target, "alt") ?? beginningOf(text, 40);
  return {
    selector: join(firstClosed === -1 ? path : path.slice(0, firstClosed)),
    shadowSelector: firstClosed === -1 ? null : join(path.slice(firstClosed)),
    element: beginningOf(localName(target), 80) + (label ? ` “${beginningOf(label, 160)}”` : ""),
    role: roleOf(target),
    name: beginningOf(makeNames(makeSearch()).nameOf(target), 1_000) || null,
    text,
    title: beginningOf(dom.title(document), 500),
    url: location.href,
  };
}

/** The text of an element that people see, up to 160 characters. */
export function visibleTextOf(target: PageElement): string {
  const text = (dom.property(target, "innerText") as string | undefined) ?? dom.textContent(target);
  return beginningOf((text ?? "").replace(/\s+/g, " ").trim(), 160);
}
