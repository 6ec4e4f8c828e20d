/** Finds the control of the page whose list or picker is open, and sets what a person chose in its place. */
import type { PageElement } from "#lib/dom/make-dom.ts";
import { beginningOf } from "#lib/text/whole-characters.ts";
import { dom } from "../dom.ts";

/** What the service shows of a control, without its place. */
type FoundControl =
  | {
      kind: "select";
      label: string;
      options: { label: string; group: string | null; isDisabled: boolean; isSelected: boolean }[];
      omitted: number;
    }
  | {
      kind: "picker";
      label: string;
      type: string;
      value: string;
      min: string;
      max: string;
      step: string;
    }
  | { kind: "suggestions"; label: string; options: { value: string; label: string }[] };

const OPTIONS_MAX = 1_000;
const SUGGESTIONS_MAX = 50;
/** Largest length of each text of the page. */
const TEXT_MAX = 200;
const PICKERS = ["date", "time", "month", "week", "datetime-local", "color"];
/** Types of `<input>` that show the suggestions of a datalist as text. */
const TYPED = ["text", "search", "url", "tel", "email", "number"];

/** A page can hide members of forms and documents with names of elements, but not those of these elements. */
type Control = HTMLSelectElement | HTMLInputElement;

/** The control that was described last, and the options as they were listed then. */
let current: { element: Control; options: HTMLOptionElement[] } | undefined;

/**
 * Returns the element with the focus in a root, inside of open shadow roots, too. Null if none has the focus.
 * The returned element may be a frame, or the host of a closed shadow root.
 */
export function focusedIn(root: Document | ShadowRoot): PageElement | null {
  const focused = readActive(root);
  const inner = focused && dom.shadowRoot(focused);
  return inner ? (focusedIn(inner) ?? focused) : focused;
}

/** An image named `activeElement` hides that member of its document. */
const readActive = (root: Document | ShadowRoot): PageElement | null =>
  Reflect.get(dom.host(root) ? ShadowRoot.prototype : Document.prototype, "activeElement", root);

/** Returns the element of a root whose list or picker is open without the focus. A script of the page can open one. */
export const openedIn = (root: Document | ShadowRoot): PageElement | null =>
  dom.querySelector(root, "select:open, input:open");

/** Describes a control that waits for a choice which the picture does not show. Null for all others. */
export function describeControl(element: PageElement): FoundControl | null {
  current = undefined;
  if (isSelect(element)) return isOpen(element) && isDrawnOutside(element) ? describeSelect(element) : null;
  if (!isInput(element) || element.disabled || element.readOnly) return null;
  if (PICKERS.includes(element.type)) return isOpen(element) ? describePicker(element) : null;
  return TYPED.includes(element.type) ? describeSuggestions(element) : null;
}

/**
 * Returns how many usable options are before an option of the described list; that is, how often a person presses the
 * down key to reach it from the first one. -1 if the option cannot be chosen any more.
 */
export function countSteps(chosen: number): number {
  const { element, options } = current ?? {};
  if (!element || !isSelect(element) || !element.isConnected || element.matches(":disabled")) return -1;
  const option = options?.[chosen];
  const usable = [...element.options].filter((each) => !isDisabled(each) && !each.hidden);
  return option ? usable.indexOf(option) : -1;
}

/** Chooses an option of the described list as a person does. @returns whether it could be chosen. */
export function chooseOption(chosen: number): boolean {
  if (countSteps(chosen) === -1) return false;
  const { element, options } = current ?? {};
  const option = options?.[chosen];
  if (!element || !option) return false;
  if (option.selected) return true;
  option.selected = true;
  notify(element);
  return true;
}

/** Sets the value of the described field as a person does. @returns whether the field still takes it. */
export function chooseValue(value: string): boolean {
  const { element } = current ?? {};
  if (!element || !isInput(element) || !element.isConnected) return false;
  if (element.readOnly || element.matches(":disabled")) return false;
  const before = element.value;
  element.value = value;
  // The field drops a value that is not of its type.
  if (value !== "" && element.value === "") {
    element.value = before;
    return false;
  }
  if (element.value !== before) notify(element);
  return true;
}

/** Whether the described control still waits. */
export const isWaiting = (): boolean =>
  current ? current.element.isConnected && isOpen(current.element) : false;

function describeSelect(element: HTMLSelectElement): FoundControl {
  const all = [...element.options].filter((option) => !option.hidden);
  const options = all.slice(0, OPTIONS_MAX);
  current = { element, options };
  return {
    kind: "select",
    label: labelOf(element),
    omitted: all.length - options.length,
    options: options.map((option) => ({
      label: textOf(option.label),
      group: option.parentElement instanceof HTMLOptGroupElement ? textOf(option.parentElement.label) : null,
      isDisabled: isDisabled(option),
      isSelected: option.selected,
    })),
  };
}

function describePicker(element: HTMLInputElement): FoundControl {
  current = { element, options: [] };
  const { type, value } = element;
  const [min, max, step] = [element.min, element.max, element.step].map(textOf);
  return {
    kind: "picker",
    label: labelOf(element),
    type,
    value,
    min: min ?? "",
    max: max ?? "",
    step: step ?? "",
  };
}

function describeSuggestions(element: HTMLInputElement): FoundControl | null {
  const typed = element.value.trim().toLowerCase();
  const options = [...(element.list?.options ?? [])]
    .filter(({ value, label, disabled }) => {
      const isMatch = value.toLowerCase().includes(typed) || label.toLowerCase().includes(typed);
      return !disabled && value !== "" && value.length <= TEXT_MAX && value !== element.value && isMatch;
    })
    .slice(0, SUGGESTIONS_MAX)
    .map(({ value, label }) => ({ value, label: textOf(label) }));
  if (options.length === 0) return null;
  current = { element, options: [] };
  return { kind: "suggestions", label: labelOf(element), options };
}

/** Reports a change of the control to the page, as Chromium does after a choice. */
function notify(element: Control): void {
  element.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
  element.dispatchEvent(new Event("change", { bubbles: true }));
}

const isSelect = (element: PageElement): element is HTMLSelectElement => isNamed(element, "select");
const isInput = (element: PageElement): element is HTMLInputElement => isNamed(element, "input");
const isNamed = (element: PageElement, name: string): boolean =>
  dom.localName(element) === name && dom.namespaceURI(element) === "http://www.w3.org/1999/xhtml";
const isOpen = (element: PageElement): boolean => dom.matches(element, ":open");

/**
 * Whether Chromium draws the list in a window of its own. A list for several choices, and a list with styles of the page,
 * are parts of the page, and so of its picture.
 */
const isDrawnOutside = (element: HTMLSelectElement): boolean =>
  !element.multiple && getComputedStyle(element).getPropertyValue("appearance") !== "base-select";

const isDisabled = (option: HTMLOptionElement): boolean =>
  option.disabled || (option.parentElement instanceof HTMLOptGroupElement && option.parentElement.disabled);

/** Returns the text of the control's label. */
function labelOf(element: Control): string {
  const named = element.getAttribute("aria-label") ?? element.labels?.[0]?.textContent;
  return textOf(named ?? element.getAttribute("title") ?? "");
}

const textOf = (text: string): string => beginningOf(text.trim().replace(/\s+/g, " "), TEXT_MAX);
