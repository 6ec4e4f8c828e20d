import type { PageElement } from "#lib/dom/make-dom.ts";
import { dom } from "../dom.ts";
import { describedBySystem } from "./described-elements.ts";
import { isFilled } from "./filled-fields.ts";
import { makeReach } from "./make-reach.ts";
import type { SearchKit } from "./make-search.ts";
import { quote } from "./quote.ts";

/** Functions that describe the state of an element. */
export type StateKit = {
  /**
   * The element's states, such as `required`. For a control, also says whether people can reach it: `inert`, or
   * `behind dialog`.
   */
  statesOf: (element: PageElement, isControl?: boolean) => string[];
  /** Whether people can scroll the content of an element, down or to the side. */
  isScrollable: (element: PageElement, style: CSSStyleDeclaration) => boolean;
};

/** Content that exceeds its box by less than this does not count as scrollable. */
const OVERFLOW_PX_MIN = 40;
const SELECTED_MAX = 10;
const OPTIONS_MAX = 12;

/** Creates the functions that describe states. Passwords, and what people filled in during a handover, are never part of a state. */
export function makeStates(search: SearchKit): StateKit {
  const reachOf = makeReach(search);

  const scrolls = (overflow: string) => overflow === "auto" || overflow === "scroll";
  const isTaller = (element: PageElement, style: CSSStyleDeclaration) =>
    scrolls(style.overflowY) &&
    dom.clientHeight(element) > 0 &&
    dom.scrollHeight(element) > dom.clientHeight(element) + OVERFLOW_PX_MIN;
  const isWider = (element: PageElement, style: CSSStyleDeclaration) =>
    scrolls(style.overflowX) &&
    dom.clientWidth(element) > 0 &&
    dom.scrollWidth(element) > dom.clientWidth(element) + OVERFLOW_PX_MIN;
  const isScrollable: StateKit["isScrollable"] = (element, style) =>
    element !== dom.scrollingElement(document) &&
    element !== dom.body(document) &&
    (isTaller(element, style) || isWider(element, style));

  const scrollStates = (element: PageElement): string[] => {
    const style = dom.computedStyle(element);
    if (!isScrollable(element, style)) return [];
    const states: string[] = [];
    const [top, left] = [dom.scrollTop(element), dom.scrollLeft(element)].map(Math.round) as [number, number];
    if (isTaller(element, style))
      states.push(`shows ${top} to ${top + dom.clientHeight(element)} of ${dom.scrollHeight(element)} px`);
    if (isWider(element, style))
      states.push(
        `shows ${left} to ${left + dom.clientWidth(element)} of ${dom.scrollWidth(element)} px across`,
      );
    return states;
  };
  const optionsOf = (select: HTMLSelectElement | HTMLDataListElement): string => {
    const options = [...select.options].map((option) => option.label || option.value);
    return `options ${listFirst(options, OPTIONS_MAX)}`;
  };
  const inputStates = (element: HTMLInputElement): string[] => {
    const states: string[] = [];
    const { type } = element;
    if (/^(date|time|datetime-local|month|week|color|file|password)$/.test(type)) states.push(`type ${type}`);
    if (type === "checkbox" || type === "radio") {
      if (element.indeterminate) states.push("mixed");
      else if (element.checked) states.push("checked");
    } else if (search.isSecret(element)) {
      if (element.value) states.push('value "•••"');
    } else if (type === "file") {
      states.push(
        ...(element.multiple ? ["multiple"] : []),
        ...[...(element.files ?? [])].map(({ name }) => quote(name, 80)),
      );
    } else if (!/^(button|submit|reset|image)$/.test(type) && element.value) {
      states.push(`value ${quote(element.value, 200)}`);
    }
    for (const limit of ["min", "max", "step"] as const)
      if (element[limit]) states.push(`${limit} ${quote(element[limit], 20)}`);
    if (element.list) states.push(optionsOf(element.list));
    return states;
  };
  const fieldStates = (element: PageElement): string[] => {
    // It is not even shown whether the field is empty, or a box is checked.
    if (isFilled(element)) return ['value "•••"'];
    if (element instanceof HTMLInputElement) return inputStates(element);
    if (element instanceof HTMLTextAreaElement)
      return element.value ? [`value ${quote(element.value, 500)}`] : [];
    if (element instanceof HTMLSelectElement) {
      const selected = [...element.selectedOptions].map(({ label }) => label);
      return [`value ${listFirst(selected, SELECTED_MAX) || '""'}`, optionsOf(element)];
    }
    if (element instanceof HTMLProgressElement || element instanceof HTMLMeterElement)
      return [`value ${element.value} of ${element.max}`];
    const isEditor = dom.matches(
      element,
      "[contenteditable]:not([contenteditable=false], [role=spinbutton])",
    );
    return isEditor ? ["contenteditable"] : [];
  };
  const statesOf: StateKit["statesOf"] = (element, isControl = false) => {
    const states = [
      ...ariaStates(element),
      ...(describedBySystem(element)?.states ?? []),
      ...fieldStates(element),
      ...scrollStates(element),
    ];
    const obstacle = isControl ? reachOf(element) : null;
    if (obstacle) states.push(obstacle);
    // `focused` comes last: differences of snapshots find the ref before it.
    if (dom.matches(element, ":focus") && element !== dom.body(document)) states.push("focused");
    return [...new Set(states)];
  };
  return { statesOf, isScrollable };
}

function listFirst(texts: string[], max: number): string {
  const shown = texts.slice(0, max).map((text) => quote(text, 60));
  const more = texts.length - shown.length;
  return `${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

const token = (value: string | null, pattern: RegExp) =>
  value !== null && pattern.test(value) ? value : null;

function ariaStates(element: PageElement): string[] {
  const aria = (name: string) => dom.getAttribute(element, `aria-${name}`);
  const states: string[] = [];
  const { checked, pressed } = { checked: aria("checked"), pressed: aria("pressed") };
  if (checked === "true" || checked === "mixed") states.push(checked === "true" ? "checked" : "mixed");
  if (pressed === "true" || pressed === "mixed") states.push("pressed");
  if (aria("selected") === "true") states.push("selected");
  const around = dom.parentElement(element);
  const expanded =
    dom.localName(element) === "summary" && around instanceof HTMLDetailsElement
      ? String(around.open)
      : aria("expanded");
  if (expanded === "true" || expanded === "false")
    states.push(expanded === "true" ? "expanded" : "collapsed");
  if (dom.matches(element, ":disabled") || aria("disabled") === "true") states.push("disabled");
  if (dom.property(element, "readOnly") === true) states.push("readonly");
  if (dom.property(element, "required") === true || aria("required") === "true") states.push("required");
  if (aria("invalid") === "true" || dom.matches(element, ":user-invalid")) states.push("invalid");
  const current = token(aria("current"), /^(page|step|location|date|time|true)$/);
  if (current) states.push(`current${current === "true" ? "" : ` ${current}`}`);
  const sort = token(aria("sort"), /^(ascending|descending|other)$/);
  if (sort) states.push(`sorted ${sort}`);
  else if (aria("sort") === "none") states.push("not sorted");
  if (aria("haspopup") && aria("haspopup") !== "false") states.push("opens a popup");
  const kind = aria("roledescription")?.trim();
  if (kind) states.push(`kind ${quote(kind, 40)}`);
  const value = aria("valuetext") ?? aria("valuenow");
  if (value !== null && dom.property(element, "value") === undefined) {
    const limits = [aria("valuemin"), aria("valuemax")];
    const range = limits.every((limit) => limit !== null && /^-?[\d.]{1,12}$/.test(limit));
    states.push(`value ${quote(value, 60)}${range ? ` (${limits.join(" to ")})` : ""}`);
  }
  return states;
}
