import type { PageElement } from "#lib/dom/make-dom.ts";
import type { PageKit } from "../../page-kit/page-kit.ts";
import type { DrawnValues } from "./walker.ts";

const FIELDS = "input, select, textarea, button, a[href], [tabindex]";
const TEXT_CHARS_MAX = 120;
const LEVELS_MAX = 3;

/**
 * Finds the fields of libraries that draw the chosen value as a text next to an empty field: the field and one text are
 * alone in a wrapper.
 * @returns the values by field, and the fields by wrapper.
 */
export function findDrawnValues(kit: PageKit): {
  drawn: DrawnValues;
  wrappers: Map<PageElement, PageElement>;
} {
  const { dom } = kit;
  const drawn: DrawnValues = new Map();
  const wrappers = new Map<PageElement, PageElement>();
  for (const field of kit.queryAll("input[role=combobox]")) {
    if (dom.property(field, "value") !== "") continue;
    let wrapper = dom.parentElement(field);
    for (let level = 0; wrapper && level < LEVELS_MAX; level++, wrapper = dom.parentElement(wrapper)) {
      const others = dom.querySelectorAll(wrapper, FIELDS).length - 1;
      if (others > 0 || dom.querySelector(wrapper, "svg, img, [role=img], label")) break;
      const text = (dom.textContent(wrapper) ?? "").replace(/\s+/g, " ").trim();
      if (text === "") continue;
      const isPlaceholder = dom.querySelector(wrapper, "[class*=placeholder]") !== null;
      const isSeen = text.length <= TEXT_CHARS_MAX && kit.contentOf(wrapper).includes(text);
      if (isSeen && text !== kit.nameOf(field)) {
        drawn.set(field, { text, isPlaceholder });
        wrappers.set(wrapper, field);
      }
      break;
    }
  }
  return { drawn, wrappers };
}
