import type { createEditorCard, EditorCard, OverlayEditor } from "./overlay-editor.ts";
import type { NodeKit } from "./overlay-nodes.ts";

/** Callbacks for what the person does in the overlay. Coordinates are in CSS pixels of the viewport. */
type OverlayActions = {
  onPill: () => void;
  onHover: (x: number, y: number) => void;
  onPick: (x: number, y: number) => void;
  onDraft: (text: string) => void;
  onAdd: () => void;
  onCancel: () => void;
  onRemove: (index: number) => void;
  onSubmit: () => void;
};

/** What the overlay shows. `rows` are the comments that are not submitted yet; `editor` is the open comment box. */
export type OverlayState = {
  pillText: string;
  isPicking: boolean;
  status: string;
  rows: { comment: string; selector: string }[];
  editor: OverlayEditor | undefined;
};

/** The overlay's nodes in one document, from `createOverlayView` until `remove`. */
export type OverlayView = {
  host: Element;
  root: ShadowRoot;
  render: (state: OverlayState) => void;
  /** Draws an outline with a name around an element, or hides the outline if there is no element. */
  frame: (element: Element | undefined, name: string) => void;
  /** Returns the page's element (not the overlay's) at a point; undefined if there is none except the root element. */
  elementAt: (x: number, y: number) => Element | undefined;
  attach: () => void;
  remove: () => void;
};

/** What the view needs inside the page: its style sheet, and functions from other files. */
export type ViewParts = { styles: string; nodes: NodeKit; createEditor: typeof createEditorCard };

/**
 * Builds the overlay in a closed shadow root. Uses an adopted style sheet, because strict content security policies
 * allow such style sheets. Runs inside pages, so it must not refer to anything outside its own body.
 */
export function createOverlayView(
  attribute: string,
  { styles, nodes, createEditor }: ViewParts,
  actions: OverlayActions,
): OverlayView {
  const { make, makeButton, listen } = nodes;
  const host = document.createElement("div");
  host.setAttribute(attribute, "");
  host.style.setProperty("all", "initial", "important");
  const root = host.attachShadow({ mode: "closed" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(styles);
  root.adoptedStyleSheets = [sheet];

  const catcher = make("div", "catcher");
  const outline = make("div", "outline");
  const tag = make("div", "tag");
  const dock = make("div", "dock");
  const list = make("div", "card list");
  const pill = makeButton("pill", "", actions.onPill);
  const status = make("div", "status");
  status.setAttribute("role", "status");
  outline.append(tag);
  dock.append(status, list, pill);
  outline.hidden = true;
  root.append(catcher, outline, dock);
  let card: EditorCard | undefined;

  listen(catcher, "pointermove", (event) => actions.onHover(event.clientX, event.clientY));
  listen(catcher, "click", (event) => actions.onPick(event.clientX, event.clientY));
  // Keeps input events in the overlay from bubbling to listeners of the page, for example for keyboard shortcuts.
  const hidden = ["keydown", "keyup", "keypress", "input", "pointerdown", "mousedown", "click", "wheel"];
  for (const kind of hidden) host.addEventListener(kind, (event) => event.stopPropagation());

  function renderRows(rows: OverlayState["rows"]): void {
    list.hidden = rows.length === 0;
    const items = rows.map(({ comment, selector }, index) => {
      const row = make("div", "row");
      const words = make("div", "words");
      words.append(make("div", "comment-text", comment), make("div", "where", selector));
      const remove = makeButton("remove", "×", () => actions.onRemove(index));
      remove.setAttribute("aria-label", "Remove comment");
      row.append(make("div", "number", String(index + 1)), words, remove);
      return row;
    });
    const label = `Submit ${rows.length === 1 ? "comment" : `${rows.length} comments`}`;
    list.replaceChildren(...items, makeButton("primary", label, actions.onSubmit));
  }

  return {
    host,
    root,
    render(state) {
      pill.textContent = state.pillText;
      pill.classList.toggle("active", state.isPicking);
      catcher.hidden = !state.isPicking;
      status.textContent = state.status;
      status.hidden = state.status === "";
      renderRows(state.rows);
      // An open comment box for the same element is not replaced, because that would interrupt the person's typing.
      if (state.editor?.element === card?.element) return;
      card?.remove();
      card = state.editor && createEditor(nodes, root, state.editor, actions);
    },
    frame(element, name) {
      outline.hidden = element === undefined;
      if (!element) return;
      const box = element.getBoundingClientRect();
      outline.style.transform = `translate(${box.x}px, ${box.y}px)`;
      outline.style.width = `${box.width}px`;
      outline.style.height = `${box.height}px`;
      tag.textContent = name;
      tag.classList.toggle("inside", box.y < 26);
    },
    elementAt(x, y) {
      host.style.setProperty("display", "none", "important");
      const found = document.elementFromPoint(x, y);
      host.style.removeProperty("display");
      return found && found !== document.documentElement ? found : undefined;
    },
    attach() {
      if (!host.isConnected) document.documentElement?.append(host);
    },
    remove: () => host.remove(),
  };
}
