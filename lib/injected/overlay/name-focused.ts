import type { PageElement, PageNode } from "#lib/dom/make-dom.ts";
import { dom } from "../dom.ts";

const NAME_MAX = 80;
const DEPTH_MAX = 16;
/** Elements whose text is a value, not a name. */
const VALUES = "input, textarea, select, [contenteditable], script, style";
/** Inputs that people do not type into. */
const NO_TEXT = /^(button|submit|reset|image|checkbox|radio|range|color|file|hidden)$/;

/**
 * Names the field that has the focus, as people see it: by its label, placeholder or technical name. No value of any
 * field becomes part of the name. Null if no field has the focus. Looks into open shadow roots and frames of the same
 * origin; a field in another frame is "a field in a frame".
 */
export function nameFocused(): string | null {
  let root: PageNode = document;
  for (let depth = 0; depth < DEPTH_MAX; depth += 1) {
    // The cast is safe: documents and shadow roots define this property.
    const focused = dom.property(root, "activeElement") as PageElement | null | undefined;
    if (!focused) return null;
    const shadow = dom.shadowRoot(focused);
    if (shadow) {
      root = shadow;
      continue;
    }
    if (dom.localName(focused) !== "iframe") return isField(focused) ? nameOf(focused, root) : null;
    // The cast is safe: this is the document of a frame; null if the frame is of another origin.
    const inner = dom.property(focused, "contentDocument") as Document | null | undefined;
    if (!inner) return "a field in a frame";
    root = inner;
  }
  return null;
}

function isField(element: PageElement): boolean {
  const name = dom.localName(element);
  if (name === "input") return !NO_TEXT.test(String(dom.property(element, "type")));
  return name === "textarea" || name === "select" || dom.isContentEditable(element);
}

function nameOf(field: PageElement, root: PageNode): string {
  const attribute = (name: string) => tidy(dom.getAttribute(field, name) ?? "");
  const labelledBy = attribute("aria-labelledby")
    .split(" ")
    .map((id) => (id === "" ? null : dom.getElementById(root, id)))
    .map((element) => (element ? textOf(element) : ""))
    .join(" ");
  // The cast is safe: only form controls have labels.
  const labels = dom.property(field, "labels") as NodeListOf<HTMLLabelElement> | null | undefined;
  const candidates = [
    tidy(labelledBy),
    attribute("aria-label"),
    tidy([...(labels ?? [])].map((label) => textOf(label)).join(" ")),
    attribute("title"),
    attribute("placeholder"),
    attribute("name"),
    attribute("id"),
  ];
  const found = candidates.find((candidate) => candidate !== "");
  return [...(found ?? `a ${dom.localName(field)} without a name`)].slice(0, NAME_MAX).join("");
}

const tidy = (text: string) => text.replace(/\s+/g, " ").trim();

/** The text of an element, without the content of fields. */
function textOf(element: PageNode): string {
  if (dom.isText(element)) return dom.textContent(element) ?? "";
  if (dom.isElement(element) && dom.matches(element, VALUES)) return "";
  return dom
    .childNodes(element)
    .map((child) => textOf(child))
    .join(" ");
}
