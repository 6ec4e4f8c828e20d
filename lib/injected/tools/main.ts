/** The code of the agent's tools, which runs in an isolated world of each frame. */
import type { PageElement } from "#lib/dom/make-dom.ts";
import { createPageKit, type PageKit, type RefCounter } from "../page-kit/page-kit.ts";
import { cleanHtml } from "./clean-html.ts";
import { describeCustomElements, findCustomElements } from "./custom-elements.ts";
import { examineCss } from "./examine-css.ts";
import { findBySelector, findCandidates, findOwnMatches, readStates } from "./find-elements.ts";
import { findOnPage } from "./find-on-page.ts";
import { drawMarks, eraseMarks, findControls } from "./mark-controls.ts";
import { checkSelector, countElements, describeOwner, readScroll, readView } from "./read-frame.ts";
import { searchText } from "./search-text.ts";
import { walkPage } from "./walk-page.ts";

export { watchFields } from "../page-kit/filled-fields.ts";
export { createPageKit } from "../page-kit/page-kit.ts";
export { foundCustomElements } from "./custom-elements.ts";
export { readTitle, readViewport, removeOverlay, untilDrawn, untilQuiet } from "./read-document.ts";

/** The functions that get a page kit and one argument, by the names with which the service calls them. */
export const kitFunctions = {
  checkSelector,
  cleanHtml,
  countElements,
  describeCustomElements,
  describeOwner,
  drawMarks,
  eraseMarks,
  examineCss,
  findBySelector,
  findCandidates,
  findControls,
  findCustomElements,
  findOnPage,
  findOwnMatches,
  readScroll,
  readStates,
  readView,
  searchText,
  walkPage,
};

export type KitFunctions = typeof kitFunctions;

/** The frame's refs. All calls in this document share the counter. */
const counter: RefCounter = { prefix: "", next: 0 };

/**
 * Calls a function with a new page kit.
 * @param refs the service's counter. The service counts, too, because later documents of the frame continue from it.
 * @returns the function's result, and the number of the next ref.
 */
export function callWithKit(
  refs: RefCounter,
  name: keyof KitFunctions,
  argument: unknown,
): { value: unknown; next: number } {
  counter.prefix = refs.prefix;
  counter.next = Math.max(counter.next, refs.next);
  // The cast is safe: `evaluateIn` and `callWithNode` call a function with its own type of argument.
  const fn = kitFunctions[name] as (kit: PageKit, argument: unknown) => unknown;
  const value = fn(createPageKit(counter), argument);
  return { value, next: counter.next };
}

/** Finds the element of a ref. Undefined if this document never assigned the ref, or the element was removed. */
export const elementOf = (ref: string): PageElement | undefined => createPageKit(counter).elementOf(ref);
