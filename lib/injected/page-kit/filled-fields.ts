import type { PageElement } from "#lib/dom/make-dom.ts";

/** The fields that have changed while they were watched. The set lasts as long as the document. */
const filled = new WeakSet<object>();
const TYPES = ["beforeinput", "input", "change"] as const;
const OPTIONS = { capture: true, passive: true } as const;

/** Also notes fields that the page's scripts change: what a person chooses in a widget is set by a script. */
const note = (event: Event): void => {
  const [field] = event.composedPath();
  if (field) filled.add(field);
};

/** Begins or ends to note the fields of the document that change, for {@link isFilled}. */
export function watchFields(isWatched: boolean): void {
  for (const type of TYPES)
    if (isWatched) window.addEventListener(type, note, OPTIONS);
    else window.removeEventListener(type, note, OPTIONS);
}

/** Whether a field has changed while fields were watched. No tool returns the value of such a field. */
export const isFilled = (element: PageElement): boolean => filled.has(element);
