import type { PageWatch } from "./page-watch.ts";

/**
 * The number of elements that a requirement's selector matches, and the texts of the first 50 visible elements among
 * them.
 */
export type FoundElements = { count: number; visibleTexts: string[] };

/**
 * Finds the elements that a requirement's selector matches.
 */
export function readRequirement(watch: PageWatch, selector: string): FoundElements {
  const kit = watch.newKit();
  const elements = kit.queryAll(selector);
  const visible = elements.filter((element) => kit.isVisible(element));
  return {
    count: elements.length,
    visibleTexts: visible.slice(0, 50).map((element) => kit.contentOf(element)),
  };
}
