import type { PageElement, PageNode } from "#lib/dom/make-dom.ts";
import { beginningOf } from "#lib/text/whole-characters.ts";
import { dom } from "../dom.ts";
import { describedBySystem } from "./described-elements.ts";
import { isFilled } from "./filled-fields.ts";
import type { SearchKit } from "./make-search.ts";
import { pseudoText } from "./pseudo-text.ts";
import { roleOf } from "./role-of.ts";

/** Functions that compute the name and the text of an element. */
export type NameKit = {
  /** The accessible name with white space collapsed; empty if the element has no name. */
  nameOf: (element: PageElement) => string;
  /**
   * The text rendered inside an element, with white space collapsed. Includes the alternative texts of pictures and the
   * values of fields, but never a password.
   */
  contentOf: (element: PageElement) => string;
};

/**
 * Creates the functions that compute names. Passwords are never part of a name.
 * Source: W3C, Accessible Name and Description Computation 1.2.
 */
export function makeNames(search: SearchKit): NameKit {
  const namedByContent = new Set(
    "button cell checkbox columnheader gridcell heading link menuitem menuitemcheckbox menuitemradio option radio row rowheader switch tab tooltip treeitem".split(
      " ",
    ),
  );
  const charsMax = 1_000;
  const tidy = (text: string | null | undefined) => (text ?? "").replace(/\s+/g, " ").trim();

  const embeddedValue = (element: PageElement): string | undefined => {
    if (isFilled(element)) return "";
    if (element instanceof HTMLSelectElement)
      return [...element.selectedOptions].map(({ label }) => label).join(" ");
    if (element instanceof HTMLTextAreaElement) return element.value;
    if (!(element instanceof HTMLInputElement)) return undefined;
    return search.isSecret(element) || /^(hidden|checkbox|radio|file)$/.test(element.type)
      ? ""
      : element.value;
  };
  const collect = (node: PageNode, parts: string[], includesHidden: boolean): void => {
    if (node instanceof Text) parts.push(node.data);
    if (!dom.isElement(node) || parts.length > charsMax) return;
    if (dom.matches(node, "script, style, noscript, template, [data-agent-session-overlay]")) return;
    const { display, visibility, contentVisibility } = dom.computedStyle(node);
    if (
      !includesHidden &&
      (display === "none" || visibility !== "visible" || dom.getAttribute(node, "aria-hidden") === "true")
    )
      return;
    const isBlock = !/^(inline|contents)/.test(display) || dom.localName(node) === "br";
    if (isBlock) parts.push(" ");
    const label = tidy(dom.getAttribute(node, "aria-label"));
    const value = embeddedValue(node);
    if (label) parts.push(label);
    else if (value !== undefined) parts.push(value);
    else if (dom.matches(node, "img, area"))
      parts.push(dom.getAttribute(node, "alt") ?? dom.getAttribute(node, "title") ?? "");
    else if (dom.localName(node) === "svg") parts.push(svgTitle(node));
    else if (includesHidden || contentVisibility !== "hidden") collectChildren(node, parts, includesHidden);
    if (isBlock) parts.push(" ");
  };
  const collectChildren = (element: PageElement, parts: string[], includesHidden: boolean): void => {
    if (isFilled(element)) return;
    const assigned = element instanceof HTMLSlotElement ? element.assignedNodes() : [];
    const children = assigned.length > 0 ? assigned : dom.childNodes(dom.shadowRoot(element) ?? element);
    for (const child of children) collect(child, parts, includesHidden);
  };
  const textOf = (element: PageElement, includesHidden = false): string => {
    const parts: string[] = [];
    collectChildren(element, parts, includesHidden);
    const text = beginningOf(tidy(parts.join("")), charsMax);
    // The text of `::before` and `::after` is read only if the element has no other text, because reading it computes two
    // more styles.
    return text || tidy(pseudoText(element, "::before") + pseudoText(element, "::after"));
  };
  const svgTitle = (element: PageElement): string => firstChildText(element, "title");

  const labelledBy = (element: PageElement): string => {
    if (!dom.hasAttribute(element, "aria-labelledby")) return "";
    // A script can set the elements without ids. The attribute is empty then.
    const targets = dom.property(element, "ariaLabelledByElements");
    if (!Array.isArray(targets)) return "";
    return tidy(
      targets
        .map(
          (target: PageElement) =>
            tidy(dom.getAttribute(target, "aria-label")) || embeddedValue(target) || textOf(target, true),
        )
        .join(" "),
    );
  };
  const labelsText = (element: PageElement): string => {
    // The cast is safe: only form controls have labels.
    const labels = dom.property(element, "labels") as NodeListOf<HTMLLabelElement> | null | undefined;
    return tidy([...(labels ?? [])].map((label) => labelText(label, element)).join(" "));
  };
  /** A label's text without the field inside it. */
  const labelText = (label: PageElement, field: PageElement): string => {
    const parts: string[] = [];
    const visit = (node: PageNode) => {
      if (node === field) return;
      if (dom.isElement(node) && dom.contains(node, field))
        for (const child of dom.childNodes(node)) visit(child);
      else collect(node, parts, false);
    };
    for (const child of dom.childNodes(label)) visit(child);
    return tidy(dom.getAttribute(label, "aria-label")) || tidy(parts.join(""));
  };
  const firstChildText = (element: PageElement, selector: string): string => {
    const child = dom.children(element).find((one) => dom.matches(one, selector));
    return child ? textOf(child) : "";
  };
  const nativeName = (element: PageElement): string => {
    if (element instanceof HTMLInputElement) {
      if (/^(button|submit|reset)$/.test(element.type))
        return tidy(element.value) || { submit: "Submit", reset: "Reset" }[element.type] || "";
      if (element.type === "image") return labelsText(element) || tidy(element.alt) || "Submit";
    }
    if (dom.matches(element, "img, area")) return tidy(dom.getAttribute(element, "alt"));
    if (dom.localName(element) === "svg") return svgTitle(element);
    if (dom.localName(element) === "fieldset") return firstChildText(element, "legend");
    if (dom.localName(element) === "figure") return firstChildText(element, "figcaption");
    if (dom.localName(element) === "table") return firstChildText(element, "caption");
    if (dom.localName(element) === "summary") return textOf(element);
    if (element instanceof HTMLOptionElement) return tidy(element.label);
    if (element instanceof HTMLOptGroupElement) return tidy(element.label);
    return labelsText(element);
  };
  const nameOf = (element: PageElement): string => {
    const own =
      labelledBy(element) ||
      tidy(dom.getAttribute(element, "aria-label")) ||
      nativeName(element) ||
      tidy(describedBySystem(element)?.name);
    if (own) return beginningOf(own, charsMax);
    if (namedByContent.has(roleOf(element) ?? "")) {
      const content = textOf(element);
      if (content) return content;
    }
    return tidy(dom.getAttribute(element, "title")) || tidy(dom.getAttribute(element, "placeholder"));
  };
  return { nameOf, contentOf: (element) => textOf(element) };
}
