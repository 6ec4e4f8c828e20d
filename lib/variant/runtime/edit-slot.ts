import type { Effect } from "./effect.ts";
import { shared } from "./shared-state.ts";

/** The state of an attribute that is edited by one or more changes. */
export type Slot = {
  /** The last value that the page set. */
  original: string | null;
  /** The value that the attribute had after the runtime last wrote or read it. */
  shown: string | null;
  edits: Edit[];
};

type Value = string | null;

/**
 * An edit of an attribute's value. `isPart` is true if the edit changes only a part of the value, such as one class.
 */
type Edit = { isPart: boolean; change: (value: Value) => Value };

const parseStyle = (text: Value): CSSStyleDeclaration => {
  const { style } = document.createElement("i");
  style.cssText = text ?? "";
  return style;
};

const readNames = (text: Value): string[] => text?.match(/\S+/g) ?? [];

/**
 * Computes the page's own class list after the page has changed a class list to which edits were applied. The result is
 * `current` without the effect of the edits.
 */
function rebaseClass(current: Value, shown: Value, original: Value): Value {
  const [now, ours, before] = [readNames(current), readNames(shown), readNames(original)];
  const remaining = now.filter((name) => before.includes(name) || !ours.includes(name));
  const back = before.filter((name) => !ours.includes(name) && !now.includes(name));
  const text = [...remaining, ...back].join(" ");
  return text === now.join(" ") ? current : text === before.join(" ") ? original : text;
}

function rebaseStyle(current: Value, shown: Value, original: Value): Value {
  const [now, ours, before] = [parseStyle(current), parseStyle(shown), parseStyle(original)];
  const read = (style: CSSStyleDeclaration, name: string) =>
    style.getPropertyValue(name) + style.getPropertyPriority(name);
  const currentText = now.cssText;
  for (const name of ours) {
    const value = read(ours, name);
    if (read(before, name) === value || read(now, name) !== value) continue;
    now.removeProperty(name);
    now.setProperty(name, before.getPropertyValue(name), before.getPropertyPriority(name));
  }
  const text = now.cssText;
  return text === currentText ? current : text === before.cssText ? original : text;
}

/**
 * Writes the inline style through the `style` property, because a strict Content-Security-Policy blocks the attribute.
 */
export function writeStyle(element: Element, text: string): void {
  // Elements that are neither HTML, SVG nor MathML have no `style` property, so the attribute is set instead.
  if ("style" in element) Object.assign(element.style as CSSStyleDeclaration, { cssText: text });
  else element.setAttribute("style", text);
}

function write(element: Element, name: string, value: Value): void {
  if (value === null) element.removeAttribute(name);
  else if (name === "style" && parseStyle(value).cssText === value) writeStyle(element, value);
  else element.setAttribute(name, value);
}

/**
 * Creates an effect that edits an attribute. `undo` removes the edit. After the last edit is removed, the attribute has
 * the page's own value again.
 */
function editAttribute(element: Element, name: string, edit: Edit): Effect {
  const slots = shared.slots.get(element) ?? new Map<string, Slot>();
  shared.slots.set(element, slots);
  const value = element.getAttribute(name);
  const slot = slots.get(name) ?? { original: value, shown: value, edits: [] };
  slots.set(name, slot);
  slot.edits.push(edit);

  const compose = (base: Value) => slot.edits.reduce((text, each) => each.change(text), base);
  /**
   * Checks whether the page has written the attribute after the runtime. If so, records the page's value in
   * `slot.original`. If each edit changes only a part of the value, the recorded value lacks the effect of the edits.
   */
  const absorb = () => {
    const current = element.getAttribute(name);
    if (current === slot.shown) return;
    const rebase = slot.edits.every(({ isPart }) => isPart)
      ? { class: rebaseClass, style: rebaseStyle }[name]
      : undefined;
    slot.original = rebase ? rebase(current, slot.shown, slot.original) : current;
    slot.shown = current;
  };
  const show = () => {
    const next = compose(slot.original);
    if (next !== slot.shown) write(element, name, next);
    slot.shown = element.getAttribute(name);
  };
  return {
    nodes: () => [element],
    isIntact() {
      absorb();
      return compose(slot.shown) === slot.shown;
    },
    apply: show,
    undo() {
      absorb();
      slot.edits.splice(slot.edits.indexOf(edit), 1);
      show();
      if (slot.edits.length === 0) slots.delete(name);
    },
  };
}

/** Sets an attribute to a value, or removes it if the value is null. */
export const setAttribute = (element: Element, name: string, value: string | null): Effect =>
  editAttribute(element, name, { isPart: false, change: () => value });

/** Adds or removes a class. */
export const setClass = (element: Element, name: string, isOn: boolean): Effect =>
  editAttribute(element, "class", {
    isPart: true,
    change(text) {
      const names = readNames(text);
      if (names.includes(name) === isOn) return text;
      return (isOn ? [...names, name] : names.filter((each) => each !== name)).join(" ");
    },
  });

/**
 * Sets properties of the inline style.
 *
 * @throws Error if the browser rejects a property or its value.
 */
export function setStyle(element: Element, style: [name: string, value: string, priority: string][]): Effect {
  for (const [name, value] of style)
    if (!CSS.supports(name, value)) throw Error(`The browser rejects the style "${name}: ${value}".`);
  return editAttribute(element, "style", {
    isPart: true,
    change(text) {
      const next = parseStyle(text);
      const before = next.cssText;
      for (const property of style) next.setProperty(...property);
      return next.cssText === before ? text : next.cssText;
    },
  });
}
