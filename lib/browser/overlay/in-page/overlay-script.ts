import { makeDom } from "#lib/dom/make-dom.ts";
import type { OverlayState, PlacedPart } from "../overlay-state.ts";
import { cursorAt } from "./cursor-at.ts";
import { createEditorCard } from "./overlay-editor.ts";
import { overlayStyles } from "./overlay-styles.ts";
import { createOverlayView, type OverlayView, type ViewParts } from "./overlay-view.ts";

type Settings = { attribute: string; handle: string };

/** The overlay in a page, as the service calls it. */
type OverlayHandle = {
  /** Draws the overlay, and adds it to the page if it is not there. Returns where its parts are. */
  draw: (state: OverlayState) => PlacedPart[];
  /** Removes the overlay from the page. */
  hide: () => void;
  raise: () => void;
  scrollList: (deltaY: number) => void;
  /** Returns the position in the open comment that is closest to a point. */
  positionAt: (x: number, y: number) => number;
  /** Returns the cursor that the page shows at a point. */
  cursorAt: (x: number, y: number) => string;
};

/** Functions and a style sheet from other files. The page gets them as text, together with the overlay's source. */
type Parts = ViewParts & { createView: typeof createOverlayView; cursorAt: typeof cursorAt };

/**
 * Runs the overlay in a page. Its nodes are new each time that it is shown, so that page code with references to
 * earlier nodes cannot affect it. Runs inside pages, so it must not refer to anything outside its own body.
 */
function runOverlay(settings: Settings, parts: Parts): void {
  const { dom, createView } = parts;
  if (window.top !== window || Object.hasOwn(globalThis, settings.handle)) return;
  let view: OverlayView | undefined;

  const handle: OverlayHandle = {
    draw(state) {
      view ??= createView(settings.attribute, parts);
      view.attach();
      return view.draw(state);
    },
    hide() {
      view?.remove();
      view = undefined;
    },
    raise: () => view?.raise(),
    scrollList: (deltaY) => view?.scrollList(deltaY),
    positionAt: (x, y) => view?.positionAt(x, y) ?? 0,
    cursorAt: (x, y) => parts.cursorAt(x, y, dom),
  };
  Object.defineProperty(globalThis, settings.handle, { value: handle });

  // Attaches the overlay again after the page has removed it, for example by replacing the document's root element or
  // the children of the root element.
  const attach = () => view?.attach();
  const follow = () => {
    attach();
    const root = dom.documentElement(document);
    if (root) new MutationObserver(attach).observe(root as Element, { childList: true });
  };
  new MutationObserver(follow).observe(document, { childList: true });
  follow();
}

const parts = `{
  styles: ${JSON.stringify(overlayStyles)},
  dom: (${makeDom.toString()})(),
  cursorAt: ${cursorAt.toString()},
  createEditor: ${createEditorCard.toString()},
  createView: ${createOverlayView.toString()}
}`;

/** Source code of a function that takes the settings and runs the overlay. */
export const overlayScript = `(settings) => (${runOverlay.toString()})(settings, ${parts})`;
