/** The overlay in a page, as the service calls it. It runs in an isolated world of each document. */
import type { PageElement } from "#lib/dom/make-dom.ts";
import { dom } from "../dom.ts";
import { OVERLAY_ATTRIBUTE, type OverlayState, type PlacedPart } from "./overlay-state.ts";
import { createOverlayView, type OverlayView } from "./overlay-view.ts";

export { cursorAt } from "./cursor-at.ts";
export { describeElement, refineElement } from "./describe-element.ts";
export { findByTraits, hasTraits, queryDocument, queryOne } from "./find-element.ts";
export { elementAround, readSelection, selectedElement } from "./marked-part.ts";
export { nameFocused } from "./name-focused.ts";

/**
 * The overlay's nodes, while it is shown. They are new each time that it is shown, so that page code with references to
 * earlier nodes cannot affect it.
 */
let view: OverlayView | undefined;
let isStarted = false;

/**
 * Starts the overlay of a page's document: it is attached again after the page has removed it, for example by replacing
 * the document's root element or the children of the root element. Does nothing in inner frames.
 */
export function start(): void {
  if (window.top !== window || isStarted) return;
  isStarted = true;
  const attach = () => view?.attach();
  const follow = () => {
    attach();
    const root = dom.documentElement(document);
    if (root) new MutationObserver(attach).observe(root as Element, { childList: true });
  };
  new MutationObserver(follow).observe(document, { childList: true });
  follow();
}

/** Draws the overlay, and adds it to the page if it is not there. Returns where its parts are. */
export function draw(state: OverlayState): PlacedPart[] {
  view ??= createOverlayView(OVERLAY_ATTRIBUTE);
  view.attach();
  return view.draw(state);
}

/** Removes the overlay from the page. */
export function hide(): void {
  view?.remove();
  view = undefined;
}

/** Puts the overlay above what the page has put into its top layer. */
export const raise = (): void => view?.raise();

/** Scrolls the list of comments. */
export const scrollList = (deltaY: number): void => view?.scrollList(deltaY);

/** Returns the position in the open comment that is closest to a point. */
export const positionAt = (x: number, y: number): number => view?.positionAt(x, y) ?? 0;

/** Reads how much the CSS `zoom` of an element and of the elements around it enlarges it. */
export const readZoom = (element: PageElement): unknown => dom.property(element, "currentCSSZoom");
