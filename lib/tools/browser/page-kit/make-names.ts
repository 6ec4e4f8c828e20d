import type { BeginningOf } from "#lib/text/whole-characters.ts";
import type { PageDom } from "./page-kit.ts";

/** Functions that compute the name and the text of an element. */
export type NameKit = {
  /** The accessible name with white space collapsed; empty if the element has no name. */
  nameOf: (element: Element) => string;
  /**
   * The text rendered inside an element, with white space collapsed. Includes the alternative texts of pictures and the
   * values of fields, but never a password.
   */
  contentOf: (element: Element) => string;
};

/**
 * Creates the functions that compute names. Passwords are never part of a name. `makeNames` is sent to the page as
 * source and runs there, so it must not use anything from outside its own body. Source: W3C, Accessible Name and
 * Description Computation 1.2.
 */
export function makeNames(
  dom: PageDom,
  roleOf: (element: Element) => string | null,
  beginningOf: BeginningOf,
): NameKit {
  const namedByContent = new Set(
    "button cell checkbox columnheader gridcell heading link menuitem menuitemcheckbox menuitemradio option radio row rowheader switch tab tooltip treeitem".split(
      " ",
    ),
  );
  const charsMax = 1_000;
  const tidy = (text: string | null | undefined) => (text ?? "").replace(/\s+/g, " ").trim();

  const pseudoText = (element: Element, pseudo: "::before" | "::after"): string => {
    const { content } = getComputedStyle(element, pseudo);
    // Removes characters of Unicode's private-use area, which icon fonts use for their icons.
    return /^"/.test(content) ? content.slice(1, -1).replace(/[\uE000-\uF8FF]|\\./gu, "") : "";
  };
  const embeddedValue = (element: Element): string | undefined => {
    if (element instanceof HTMLSelectElement)
      return [...element.selectedOptions].map(({ label }) => label).join(" ");
    if (element instanceof HTMLTextAreaElement) return element.value;
    if (!(element instanceof HTMLInputElement)) return undefined;
    return dom.isSecret(element) || /^(hidden|checkbox|radio|file)$/.test(element.type) ? "" : element.value;
  };
  const collect = (node: Node, parts: string[], includesHidden: boolean): void => {
    if (node instanceof Text) parts.push(node.data);
    if (!(node instanceof Element) || parts.length > charsMax) return;
    if (node.matches("script, style, noscript, template, [data-agent-session-overlay]")) return;
    const { display, visibility } = getComputedStyle(node);
    if (
      !includesHidden &&
      (display === "none" || visibility !== "visible" || node.getAttribute("aria-hidden") === "true")
    )
      return;
    const isBlock = !/^(inline|contents)/.test(display) || node.localName === "br";
    if (isBlock) parts.push(" ");
    const label = tidy(node.getAttribute("aria-label"));
    const value = embeddedValue(node);
    if (label) parts.push(label);
    else if (value !== undefined) parts.push(value);
    else if (node.matches("img, area"))
      parts.push(node.getAttribute("alt") ?? node.getAttribute("title") ?? "");
    else if (node.localName === "svg") parts.push(svgTitle(node));
    else collectChildren(node, parts, includesHidden);
    if (isBlock) parts.push(" ");
  };
  const collectChildren = (element: Element, parts: string[], includesHidden: boolean): void => {
    const assigned = element instanceof HTMLSlotElement ? element.assignedNodes() : [];
    const children = assigned.length > 0 ? assigned : (element.shadowRoot ?? element).childNodes;
    for (const child of children) collect(child, parts, includesHidden);
  };
  const textOf = (element: Element, includesHidden = false): string => {
    const parts: string[] = [];
    collectChildren(element, parts, includesHidden);
    const text = beginningOf(tidy(parts.join("")), charsMax);
    // The text of `::before` and `::after` is read only if the element has no other text, because reading it computes two
    // more styles.
    return text || tidy(pseudoText(element, "::before") + pseudoText(element, "::after"));
  };
  const svgTitle = (element: Element): string =>
    tidy([...element.children].find(({ localName }) => localName === "title")?.textContent);

  const labelledBy = (element: Element): string => {
    const ids = element.getAttribute("aria-labelledby")?.trim().split(/\s+/) ?? [];
    const root = element.getRootNode() as Document | ShadowRoot;
    const targets = ids.map((id) => root.getElementById(id));
    return tidy(
      targets
        .map(
          (target) =>
            target &&
            (tidy(target.getAttribute("aria-label")) || embeddedValue(target) || textOf(target, true)),
        )
        .join(" "),
    );
  };
  const labelsText = (element: Element): string => {
    const labels = "labels" in element ? (element.labels as NodeListOf<HTMLLabelElement> | null) : null;
    return tidy([...(labels ?? [])].map((label) => labelText(label, element)).join(" "));
  };
  /** A label's text without the field inside it. */
  const labelText = (label: Element, field: Element): string => {
    const parts: string[] = [];
    const visit = (node: Node) => {
      if (node === field) return;
      if (node instanceof Element && node.contains(field)) for (const child of node.childNodes) visit(child);
      else collect(node, parts, false);
    };
    for (const child of label.childNodes) visit(child);
    return tidy(label.getAttribute("aria-label")) || tidy(parts.join(""));
  };
  const firstChildText = (element: Element, selector: string): string => {
    const child = [...element.children].find((one) => one.matches(selector));
    return child ? textOf(child) : "";
  };
  const nativeName = (element: Element): string => {
    if (element instanceof HTMLInputElement) {
      if (/^(button|submit|reset)$/.test(element.type))
        return tidy(element.value) || { submit: "Submit", reset: "Reset" }[element.type] || "";
      if (element.type === "image") return labelsText(element) || tidy(element.alt) || "Submit";
    }
    if (element.matches("img, area")) return tidy(element.getAttribute("alt"));
    if (element.localName === "svg") return svgTitle(element);
    if (element.localName === "fieldset") return firstChildText(element, "legend");
    if (element.localName === "figure") return firstChildText(element, "figcaption");
    if (element.localName === "table") return firstChildText(element, "caption");
    if (element.localName === "summary") return textOf(element);
    if (element instanceof HTMLOptionElement) return tidy(element.label);
    if (element instanceof HTMLOptGroupElement) return tidy(element.label);
    return labelsText(element);
  };
  const nameOf = (element: Element): string => {
    const own = labelledBy(element) || tidy(element.getAttribute("aria-label")) || nativeName(element);
    if (own) return beginningOf(own, charsMax);
    if (namedByContent.has(roleOf(element) ?? "")) {
      const content = textOf(element);
      if (content) return content;
    }
    return tidy(element.getAttribute("title")) || tidy(element.getAttribute("placeholder"));
  };
  return { nameOf, contentOf: (element) => textOf(element) };
}
