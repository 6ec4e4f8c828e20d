import type { BeginningOf } from "#lib/text/whole-characters.ts";
/** Describes elements of a page by selector, text and label. */
export type ElementNames = {
  /** Returns a selector that matches only this element; prefers ids and attributes that the page's author chose. */
  selectorOf: (element: Element) => string;
  /** Returns the element's visible text, at most 160 characters. */
  textOf: (element: Element) => string;
  /** Returns the element's tag and a short label. */
  nameOf: (element: Element) => string;
};

/**
 * Creates the functions of {@link ElementNames}. Runs inside pages, so it must not refer to anything outside its own
 * body.
 */
export function createElementNames(beginningOf: BeginningOf): ElementNames {
  function escapeValue(value: string): string {
    return value.replace(/["\\]/g, "\\$&").replace(/\n/g, "\\a ");
  }
  function isUnique(selector: string): boolean {
    return document.querySelectorAll(selector).length === 1;
  }
  /** Builds a selector from an id or attribute that the page's author chose; skips ids that look generated. */
  function namedSelector(element: Element): string | undefined {
    const name = element.localName;
    const isLasting =
      element.id !== "" && !/\d{3,}|^:|[:«»]|^(radix|react|ember|mui|headlessui)-/i.test(element.id);
    if (isLasting && isUnique(`#${CSS.escape(element.id)}`)) return `#${CSS.escape(element.id)}`;
    for (const attribute of [
      "data-testid",
      "data-test",
      "data-cy",
      "data-qa",
      "name",
      "aria-label",
      "href",
    ]) {
      const value = element.getAttribute(attribute);
      if (!value || value.length > 80) continue;
      const selector = `${CSS.escape(name)}[${attribute}="${escapeValue(value)}"]`;
      if (isUnique(selector)) return selector;
    }
    return undefined;
  }
  function selectorOf(element: Element): string {
    const steps: string[] = [];
    for (let at: Element | null = element; at; at = at.parentElement) {
      const named = namedSelector(at);
      if (named !== undefined) return [named, ...steps].join(" > ");
      const { localName } = at;
      const siblings = at.parentElement
        ? [...at.parentElement.children].filter((each) => each.localName === localName)
        : [];
      const step =
        CSS.escape(localName) + (siblings.length > 1 ? `:nth-of-type(${siblings.indexOf(at) + 1})` : "");
      steps.unshift(step);
      if (at !== document.documentElement && isUnique(steps.join(" > "))) return steps.join(" > ");
    }
    return steps.join(" > ");
  }
  function textOf(element: Element): string {
    // biome-ignore lint/performance/useDomNodeTextContent: only the visible text is wanted, without scripts and hidden parts
    const text = element instanceof HTMLElement ? element.innerText : element.textContent;
    return beginningOf((text ?? "").replace(/\s+/g, " ").trim(), 160);
  }
  function nameOf(element: Element): string {
    const label =
      element.getAttribute("aria-label") ?? element.getAttribute("alt") ?? beginningOf(textOf(element), 40);
    return element.localName + (label ? ` “${label}”` : "");
  }

  return { selectorOf, textOf, nameOf };
}
