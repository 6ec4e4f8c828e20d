import type { PageElement } from "../../dom/make-dom.ts";
import { listCopies } from "./copies.ts";
import { dom } from "./dom.ts";
import type { Effect } from "./effect.ts";
import { add, every, filter, includes, join, readWords, without } from "./lists.ts";
import { popOriginal, recordOriginal } from "./lost-originals.ts";
import { type Edit, type Slot, shared } from "./shared-state.ts";

type Value = string | null;

const parseStyle = (text: Value): CSSStyleDeclaration => {
  const { style } = dom.createElement(document, "span");
  style.cssText = text ?? "";
  return style;
};

/**
 * Computes the page's own class list after the page has changed a class list to which edits were applied. The result is
 * `current` without the effect of the edits.
 */
function rebaseClass(current: Value, shown: Value, original: Value): Value {
  const [now, ours, before] = [readWords(current), readWords(shown), readWords(original)];
  const remaining = filter(now, (name) => includes(before, name) || !includes(ours, name));
  const back = filter(before, (name) => !includes(ours, name) && !includes(now, name));
  const text = join([...remaining, ...back]);
  return text === join(now) ? current : text === join(before) ? original : text;
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
 * Computes the page's own value of an attribute to which edits were applied. See {@link rebaseClass}. If the edits
 * replace the whole value, a value that they have not written is the page's own.
 */
function rebase(name: string, edits: Edit[], current: Value, shown: Value, original: Value): Value {
  if (current === shown) return original;
  if (!every(edits, (each) => each.isPart)) return current;
  return (name === "class" ? rebaseClass : rebaseStyle)(current, shown, original);
}

/**
 * Writes the inline style through the `style` property, because a strict Content-Security-Policy blocks the attribute.
 */
export function writeStyle(element: PageElement, text: string): void {
  const style = dom.style(element);
  if (style) style.cssText = text;
  else dom.setAttribute(element, "style", text);
}

function write(element: PageElement, name: string, value: Value): void {
  if (value === null) dom.removeAttribute(element, name);
  else if (name === "style" && parseStyle(value).cssText === value) writeStyle(element, value);
  else dom.setAttribute(element, name, value);
}

/**
 * Creates an effect that edits an attribute. `undo` removes the edit. After the last edit is removed, the attribute has
 * the page's own value again.
 */
function editAttribute(element: PageElement, name: string, edit: Edit): Effect {
  const slots = shared.slots.get(element) ?? new Map<string, Slot>();
  shared.slots.set(element, slots);
  const shown = dom.getAttribute(element, name);
  const keyOf = (value: Value) => dom.localName(element) + name + value;
  const slot = slots.get(name) ?? {
    // The cast is safe: this function keeps the values of attributes by such keys.
    original: (popOriginal(keyOf(shown)) ?? { original: shown }).original as Value,
    shown,
    edits: [],
  };
  slots.set(name, slot);
  shared.changed.add(element);
  add(slot.edits, edit);

  const compose = (base: Value) => {
    let text = base;
    for (const each of slot.edits) text = each.change(text);
    return text;
  };
  /**
   * Checks whether the page has written the attribute after the runtime. If so, records the page's value in
   * `slot.original`. If each edit changes only a part of the value, the recorded value lacks the effect of the edits.
   */
  const absorb = () => {
    const current = dom.getAttribute(element, name);
    slot.original = rebase(name, slot.edits, current, slot.shown, slot.original);
    slot.shown = current;
  };
  const show = () => {
    const next = compose(slot.original);
    if (next !== slot.shown) write(element, name, next);
    slot.shown = dom.getAttribute(element, name);
  };
  return {
    watched: () => [element],
    isIntact() {
      absorb();
      return compose(slot.shown) === slot.shown;
    },
    put: show,
    undo() {
      absorb();
      const before = slot.shown;
      if (!dom.isConnected(element)) recordOriginal(keyOf(before), slot.original);
      slot.edits = without(slot.edits, edit);
      show();
      for (const copy of listCopies([element]) as PageElement[]) {
        const copied = shared.slots.get(copy)?.get(name);
        const current = copied ? copied.original : dom.getAttribute(copy, name);
        const own = rebase(name, [edit], current, before, slot.shown);
        if (copied) copied.original = own;
        else write(copy, name, own);
      }
      if (slot.edits.length === 0) slots.delete(name);
    },
  };
}

/** Sets an attribute to a value, or removes it if the value is null. */
export const setAttribute = (element: PageElement, name: string, value: string | null): Effect =>
  editAttribute(element, name, { isPart: false, change: () => value });

/** Adds or removes a class. */
export const setClass = (element: PageElement, name: string, isOn: boolean): Effect =>
  editAttribute(element, "class", {
    isPart: true,
    change(text) {
      const names = readWords(text);
      if (includes(names, name) === isOn) return text;
      return join(isOn ? [...names, name] : without(names, name));
    },
  });

/**
 * Sets properties of the inline style.
 *
 * @throws Error if the browser rejects a property or its value.
 */
export function setStyle(
  element: PageElement,
  style: [name: string, value: string, priority: string][],
): Effect {
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
