import type { PageElement } from "#lib/dom/make-dom.ts";

/** How the browser's accessibility tree describes an element. */
export type SystemDescription = { role: string | null; name: string; states: string[] };

/**
 * Descriptions of custom elements. A custom element can set its role, name and states with `ElementInternals`, which
 * only its own script and the accessibility tree can read.
 */
const descriptions = new WeakMap<PageElement, SystemDescription>();

/** Keeps the description of a custom element until the next one. */
export const describeBySystem = (element: PageElement, description: SystemDescription): void =>
  void descriptions.set(element, description);

/** The description that {@link describeBySystem} has kept. */
export const describedBySystem = (element: PageElement): SystemDescription | undefined =>
  descriptions.get(element);
