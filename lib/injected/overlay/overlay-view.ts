import { dom } from "../dom.ts";
import { createEditorCard, type EditorCard, type MakeNode } from "./overlay-editor.ts";
import type { OverlayPart, OverlayState, PlacedPart } from "./overlay-state.ts";
import { overlayStyles } from "./overlay-styles.ts";

/** The overlay's nodes in one document, from `createOverlayView` until `remove`. */
export type OverlayView = {
  /** Draws a state, and returns where the parts that can be pressed are. */
  draw: (state: OverlayState) => PlacedPart[];
  /** Puts the overlay above everything else that is in the page's top layer. */
  raise: () => void;
  /** Adds the overlay to the document again if the page has removed it. */
  attach: () => void;
  scrollList: (deltaY: number) => void;
  positionAt: (x: number, y: number) => number;
  remove: () => void;
};

/**
 * Builds the overlay in a closed shadow root. It is a popover, so it is in the top layer, above modal dialogs, other
 * popovers and fullscreen elements. It only draws: it takes no focus and no events, so a modal dialog, `inert` or a
 * focus trap of the page does not affect it. Its style sheet is an adopted one, because strict content security policies
 * allow such style sheets.
 */
export function createOverlayView(attribute: string): OverlayView {
  const make: MakeNode = (className, text = "") => {
    const html = "http://www.w3.org/1999/xhtml";
    // The cast is safe: HTML has this element.
    const node = dom.createElementNS(document, html, "div") as HTMLElement;
    node.className = className;
    node.textContent = text;
    return node;
  };
  const host = make("");
  host.setAttribute(attribute, "");
  host.style.setProperty("all", "initial", "important");
  const root = host.attachShadow({ mode: "closed" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(overlayStyles);
  root.adoptedStyleSheets = [sheet];

  const panel = make("panel");
  const outline = make("outline");
  const tag = make("tag");
  const dock = make("dock");
  const status = make("status");
  const list = make("card");
  const rows = make("rows");
  const submit = make("primary");
  const pill = make("pill");
  panel.popover = "manual";
  outline.append(tag);
  dock.append(status, list, pill);
  list.append(rows, submit);
  panel.append(outline, dock);
  root.append(panel);
  let card: EditorCard | undefined;
  let removes: HTMLElement[] = [];
  let shownRows = "";

  function drawRows(comments: OverlayState["rows"]): void {
    list.hidden = comments.length === 0;
    // The list keeps its scroll position while the rows are the same.
    const key = JSON.stringify(comments);
    if (key === shownRows) return;
    shownRows = key;
    removes = [];
    rows.replaceChildren(
      ...comments.map(({ comment, where }, index) => {
        const row = make("row");
        const words = make("words");
        const remove = make("remove", "×");
        removes.push(remove);
        words.append(make("comment-text", comment), make("where", where));
        row.append(make("number", String(index + 1)), words, remove);
        return row;
      }),
    );
    submit.textContent = `Submit ${comments.length === 1 ? "comment" : `${comments.length} comments`}`;
  }
  function drawOutline(box: OverlayState["outline"]): void {
    outline.hidden = box === null;
    if (!box) return;
    outline.style.transform = `translate(${box.x}px, ${box.y}px)`;
    outline.style.width = `${box.width}px`;
    outline.style.height = `${box.height}px`;
    tag.textContent = box.label;
    tag.classList.toggle("inside", box.y < 26);
  }
  function drawEditor(editor: OverlayState["editor"]): void {
    if (!editor) {
      card?.node.remove();
      card = undefined;
      return;
    }
    if (!card) {
      card = createEditorCard(make);
      panel.append(card.node);
    }
    card.draw(editor);
  }
  function placedParts(): PlacedPart[] {
    const placed: PlacedPart[] = [];
    const place = (part: OverlayPart, node: HTMLElement, index = 0) => {
      const { x, y, width, height } = node.getBoundingClientRect();
      if (height > 0) placed.push({ part, index, x, y, width, height });
    };
    place("pill", pill);
    place("list", list);
    place("submit", submit);
    const { top, bottom } = rows.getBoundingClientRect();
    for (const [index, remove] of removes.entries()) {
      const box = remove.getBoundingClientRect();
      if (box.top >= top - 1 && box.bottom <= bottom + 1) place("remove", remove, index);
    }
    if (card) {
      place("card", card.node);
      for (const part of ["comment", "add", "cancel"] as const) place(part, card.parts[part]);
    }
    return placed;
  }

  return {
    draw(state) {
      // A `zoom` of the page's root element applies to the overlay, too; this undoes it.
      const zoom = host.currentCSSZoom;
      panel.style.zoom = zoom > 0 ? String(1 / zoom) : "";
      pill.textContent = state.pillText;
      pill.classList.toggle("active", state.isPicking);
      status.textContent = state.status;
      status.hidden = state.status === "";
      drawRows(state.rows);
      drawOutline(state.outline);
      drawEditor(state.editor);
      return placedParts();
    },
    raise() {
      if (!panel.isConnected) return;
      if (panel.matches(":popover-open")) panel.hidePopover();
      panel.showPopover();
      // Makes the browser report the change of the top layer now.
      panel.getBoundingClientRect();
    },
    attach() {
      const parent = dom.documentElement(document);
      if (!host.isConnected && parent) dom.append(parent, host);
      if (panel.isConnected && !panel.matches(":popover-open")) panel.showPopover();
    },
    scrollList(deltaY) {
      rows.scrollTop += deltaY;
    },
    positionAt: (x, y) => card?.positionAt(x, y) ?? 0,
    remove: () => host.remove(),
  };
}
