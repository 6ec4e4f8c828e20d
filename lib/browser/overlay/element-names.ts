/** Selectors and labels for elements. */
export type ElementNames = {
  /** A selector that finds the element alone, by what its author chose where possible. */
  selectorOf: (element: Element) => string;
  /** The text that a person sees in it, at most 160 characters. */
  textOf: (element: Element) => string;
  /** Its tag and a short label. */
  nameOf: (element: Element) => string;
};

/** Makes the names. Runs inside pages, so it uses nothing from outside its own braces. */
export function createElementNames(): ElementNames {
  function escapeValue(value: string): string {
    return value.replace(/["\\]/g, "\\$&").replace(/\n/g, "\\a ");
  }
  function isUnique(selector: string): boolean {
    return document.querySelectorAll(selector).length === 1;
  }
  /** A selector by something the author of the page chose; ids that a framework counted up do not last. */
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
    // biome-ignore lint/performance/useDomNodeTextContent: what a person sees is wanted, without scripts and hidden parts
    const text = element instanceof HTMLElement ? element.innerText : element.textContent;
    return (text ?? "").replace(/\s+/g, " ").trim().slice(0, 160);
  }
  function nameOf(element: Element): string {
    const label =
      element.getAttribute("aria-label") ?? element.getAttribute("alt") ?? textOf(element).slice(0, 40);
    return element.localName + (label ? ` “${label}”` : "");
  }

  return { selectorOf, textOf, nameOf };
}
