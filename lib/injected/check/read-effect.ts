import type { Dom, PageElement } from "#lib/dom/make-dom.ts";
import type { ExaminedChange } from "./examined-change.ts";

/** Reads whether a change that is in the document has the effect that people are to see. */
type EffectReader = {
  /**
   * Returns why an applied change has no effect on an element. Null if it has one. Briefly alters the inline style of
   * elements for `setStyle`.
   */
  problemOf: (change: ExaminedChange, element: PageElement) => string | null;
};

/**
 * Creates an {@link EffectReader}.
 */
export function makeEffectReader(dom: Dom, quote: (text: string) => string): EffectReader {
  const DESCENDANTS_MAX = 300;
  /** Attributes that are on whatever their value is, with the property that says whether they are on. */
  const SWITCHES: Partial<Record<string, string>> = {
    checked: "checked",
    disabled: "disabled",
    hidden: "hidden",
    inert: "inert",
    multiple: "multiple",
    open: "open",
    readonly: "readOnly",
    required: "required",
    selected: "selected",
  };
  const INHERITED = [
    "color",
    "font-family",
    "font-size",
    "font-style",
    "font-weight",
    "letter-spacing",
    "line-height",
    "text-transform",
    "visibility",
  ];

  /** Whether a switch such as `checked` is on, as people see it. Undefined if the element has no such switch. */
  const isOn = (element: PageElement, name: string): boolean | undefined => {
    const property = SWITCHES[name];
    const value = property === undefined ? undefined : dom.property(element, property);
    // A field is also disabled if the `fieldset` around it is.
    if (name === "disabled" && typeof value === "boolean") return dom.matches(element, ":disabled");
    return typeof value === "boolean" ? value : undefined;
  };
  const fieldProblem = (element: PageElement, wanted: string): string | null => {
    if (!(element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement)) return null;
    const value = dom.property(element, "value");
    return typeof value === "string" && value !== wanted
      ? `shows the value ${quote(value)}, because the field was filled in before`
      : null;
  };
  const sourceProblem = (element: PageElement, value: string): string | null => {
    const shown = dom.property(element, "currentSrc");
    const wanted = URL.parse(value, document.baseURI)?.href;
    if (typeof shown !== "string" || shown === "" || wanted === undefined || shown === wanted) return null;
    return `shows ${quote(shown)}, because srcset or a <source> is stronger than src`;
  };
  const attributeProblem = (element: PageElement, name: string, value: string): string | null => {
    if (name === "src") return sourceProblem(element, value);
    if (name === "value") return fieldProblem(element, value);
    const state = isOn(element, name);
    if (state === true && value.trim().toLowerCase() === "false")
      return `is still ${name}, because ${name}="false" means the same as ${name}; use removeAttribute`;
    if (state === false && value.trim().toLowerCase() !== "false")
      return `is not ${name}, although it has the attribute; the page has changed its state before`;
    return null;
  };

  const nameOf = (element: PageElement) =>
    dom.localName(element) + (dom.id(element) === "" ? "" : `#${dom.id(element)}`);
  const ownsText = (element: PageElement) =>
    dom.childNodes(element).some((node) => node instanceof Text && node.data.trim() !== "");
  const withoutProperty = <Result>(element: PageElement, name: string, read: () => Result): Result => {
    const own = dom.style(element);
    const saved = dom.getAttribute(element, "style") ?? "";
    own?.removeProperty(name);
    const result = read();
    if (own) own.cssText = saved;
    return result;
  };
  /** Returns the descendants whose texts keep their look, if these are all texts of the element. */
  const overrideProblem = (element: PageElement, name: string): string | null => {
    if (!INHERITED.includes(name) || ownsText(element)) return null;
    const owners = dom.querySelectorAll(element, "*").slice(0, DESCENDANTS_MAX).filter(ownsText);
    const isMoving = (each: PageElement) => /[1-9]/.test(dom.computedStyle(each).transitionDuration);
    const [first] = owners;
    if (!first || [element, ...owners].some(isMoving)) return null;
    const read = () => [element, ...owners].map((each) => dom.computedStyle(each).getPropertyValue(name));
    const [shown, ...texts] = read();
    const [before, ...textsBefore] = withoutProperty(element, name, read);
    if (shown === before || texts.some((text, index) => text !== textsBefore[index])) return null;
    return `has ${name}: ${quote(shown ?? "")}, but its text in <${nameOf(first)}> shows ${quote(texts[0] ?? "")}, which a rule of the page sets there`;
  };
  const isOpaque = (colour: string) => /^rgb\(/.test(colour);
  const coverProblem = (element: PageElement): string | null => {
    const box = dom.getBoundingClientRect(element);
    if (box.width < 1 || box.height < 1) return null;
    const cover = dom.children(element).find((child) => {
      const { left, top, right, bottom } = dom.getBoundingClientRect(child);
      const { backgroundColor, opacity, position } = dom.computedStyle(child);
      const isOver =
        left <= box.left + 1 && top <= box.top + 1 && right >= box.right - 1 && bottom >= box.bottom - 1;
      return isOver && isOpaque(backgroundColor) && opacity === "1" && position !== "fixed";
    });
    return cover ? `is painted over by the background of its <${nameOf(cover)}>` : null;
  };
  const styleProblem = (element: PageElement, style: Record<string, string>): string | null => {
    for (const name of Object.keys(style)) {
      const computed = dom.computedStyle(element);
      const fill = computed.getPropertyValue("-webkit-text-fill-color");
      const problem =
        name === "color" && fill !== computed.color
          ? `shows its text in ${fill}, because -webkit-text-fill-color is stronger than color`
          : name === "background-color" || name === "background"
            ? coverProblem(element)
            : null;
      const found = problem ?? overrideProblem(element, name);
      if (found !== null) return found;
    }
    return null;
  };

  return {
    problemOf(change, element) {
      switch (change.op) {
        case "setAttribute":
          return attributeProblem(element, change.name, change.value);
        case "removeAttribute":
          return isOn(element, change.name) === true
            ? `is still ${change.name}, although it does not have the attribute`
            : null;
        case "setText":
          return element instanceof HTMLTextAreaElement ? fieldProblem(element, change.text) : null;
        case "setStyle":
          return styleProblem(element, change.style);
        default:
          return null;
      }
    },
  };
}
