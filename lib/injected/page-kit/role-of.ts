import type { PageElement } from "#lib/dom/make-dom.ts";
import { dom } from "../dom.ts";
import { describedBySystem } from "./described-elements.ts";

const byTag: Record<string, string> = {
  article: "article",
  aside: "complementary",
  blockquote: "blockquote",
  button: "button",
  caption: "caption",
  code: "code",
  datalist: "listbox",
  dd: "definition",
  del: "deletion",
  details: "group",
  dfn: "term",
  dialog: "dialog",
  dt: "term",
  em: "emphasis",
  fieldset: "group",
  figure: "figure",
  h1: "heading",
  h2: "heading",
  h3: "heading",
  h4: "heading",
  h5: "heading",
  h6: "heading",
  hr: "separator",
  ins: "insertion",
  li: "listitem",
  main: "main",
  mark: "mark",
  math: "math",
  menu: "list",
  meter: "meter",
  nav: "navigation",
  ol: "list",
  optgroup: "group",
  option: "option",
  output: "status",
  p: "paragraph",
  progress: "progressbar",
  search: "search",
  strong: "strong",
  sub: "subscript",
  sup: "superscript",
  svg: "img",
  table: "table",
  tbody: "rowgroup",
  textarea: "textbox",
  tfoot: "rowgroup",
  thead: "rowgroup",
  time: "time",
  tr: "row",
  ul: "list",
};
const byInputType: Record<string, string> = {
  button: "button",
  checkbox: "checkbox",
  file: "button",
  image: "button",
  number: "spinbutton",
  radio: "radio",
  range: "slider",
  reset: "button",
  submit: "button",
};
const validRoles = new Set(
  "alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox complementary contentinfo definition deletion dialog directory document emphasis feed figure form generic grid gridcell group heading img insertion link list listbox listitem log main mark marquee math meter menu menubar menuitem menuitemcheckbox menuitemradio navigation none note option paragraph presentation progressbar radio radiogroup region row rowgroup rowheader scrollbar search searchbox separator slider spinbutton status strong subscript superscript switch tab table tablist tabpanel term textbox time timer toolbar tooltip tree treegrid treeitem".split(
    " ",
  ),
);
const hasOwnName = (element: PageElement) =>
  Boolean(dom.getAttribute(element, "aria-label")?.trim() || dom.hasAttribute(element, "aria-labelledby"));
const isLandmark = (element: PageElement) => !dom.closest(element, "article, aside, main, nav, section");

const headerRole = (cell: PageElement): string => {
  const scope = dom.getAttribute(cell, "scope") ?? "";
  if (/^col/.test(scope)) return "columnheader";
  if (/^row/.test(scope)) return "rowheader";
  const neighbours = [dom.previousElementSibling(cell), dom.nextElementSibling(cell)];
  const isRowHeader = neighbours.some(
    (other) => other && dom.localName(other) === "td" && dom.textContent(other)?.trim(),
  );
  return isRowHeader ? "rowheader" : "columnheader";
};
const inputRole = (input: HTMLInputElement): string | null => {
  if (input.type === "hidden") return null;
  if (/^(email|search|tel|text|url)$/.test(input.type)) {
    if (input.list) return "combobox";
    return input.type === "search" ? "searchbox" : "textbox";
  }
  return byInputType[input.type] ?? "textbox";
};
const implicitRole = (element: PageElement): string | null => {
  const tag = dom.localName(element);
  if (element instanceof HTMLInputElement) return inputRole(element);
  if (element instanceof HTMLSelectElement)
    return element.multiple || element.size > 1 ? "listbox" : "combobox";
  if (tag === "a" || tag === "area") return dom.hasAttribute(element, "href") ? "link" : null;
  if (tag === "header") return isLandmark(element) ? "banner" : null;
  if (tag === "footer") return isLandmark(element) ? "contentinfo" : null;
  if (tag === "form") return hasOwnName(element) ? "form" : null;
  if (tag === "section") return hasOwnName(element) ? "region" : null;
  if (tag === "img") {
    const isNamed =
      dom.getAttribute(element, "title") || hasOwnName(element) || dom.hasAttribute(element, "tabindex");
    return dom.getAttribute(element, "alt") === "" && !isNamed ? "presentation" : "img";
  }
  if (tag === "td") {
    const table = dom.closest(element, "table");
    return /grid$/.test((table && dom.getAttribute(table, "role")) ?? "") ? "gridcell" : "cell";
  }
  if (tag === "th") return headerRole(element);
  return byTag[tag] ?? null;
};

/** The role that a custom element has set with `ElementInternals`. */
function systemRole(element: PageElement): string | null {
  const role = describedBySystem(element)?.role ?? "";
  return validRoles.has(role) && role !== "generic" ? role : null;
}

/**
 * Returns the ARIA role of an element as Playwright's `getByRole` matches it; null for an element without a role.
 * Source: W3C, HTML-AAM and WAI-ARIA 1.2.
 */
export function roleOf(element: PageElement): string | null {
  const explicit = (dom.getAttribute(element, "role") ?? "").toLowerCase().split(/\s+/);
  const role = explicit.find((name) => validRoles.has(name));
  if (role === undefined) return implicitRole(element) ?? systemRole(element);
  const isPresentation = role === "none" || role === "presentation";
  // Browsers ignore a presentational role on an element that can have the focus.
  return isPresentation && dom.matches(element, "[tabindex], a[href], button, input, select, textarea")
    ? implicitRole(element)
    : role;
}
