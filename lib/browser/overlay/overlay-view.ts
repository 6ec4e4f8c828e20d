/** What a person may do in the overlay. */
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

/** What the overlay shows. */
type OverlayState = {
  pillText: string;
  isPicking: boolean;
  status: string;
  rows: { comment: string; selector: string }[];
  /** The open comment box: the element it is about, and what has been typed so far. */
  editor: { element: Element; title: string; draft: string } | undefined;
};

/** The overlay's nodes in one document, from `createOverlayView` until `remove`. */
export type OverlayView = {
  host: Element;
  root: ShadowRoot;
  render: (state: OverlayState) => void;
  /** Draws the outline around an element, with its name; without one the outline goes. */
  frame: (element: Element | undefined, name: string) => void;
  /** The page's own element at a point. */
  elementAt: (x: number, y: number) => Element | undefined;
  attach: () => void;
  remove: () => void;
};

/**
 * Builds the overlay's nodes in a closed shadow root, node by node and with an adopted sheet, which strict content
 * policies and Trusted Types allow. Events that the browser does not mark as trusted are ignored: `dispatchEvent` and
 * `click()` are code, not a person. Runs inside pages, so it uses nothing from outside its own braces.
 */
export function createOverlayView(attribute: string, styles: string, actions: OverlayActions): OverlayView {
  const host = document.createElement("div");
  host.setAttribute(attribute, "");
  host.style.setProperty("all", "initial", "important");
  const root = host.attachShadow({ mode: "closed" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(styles);
  root.adoptedStyleSheets = [sheet];

  function listen<Kind extends keyof HTMLElementEventMap>(
    node: HTMLElement,
    kind: Kind,
    handle: (event: HTMLElementEventMap[Kind]) => void,
  ) {
    node.addEventListener(kind, (event) => {
      if (event.isTrusted) handle(event);
    });
  }
  function make<Tag extends keyof HTMLElementTagNameMap>(tag: Tag, className: string, text = "") {
    const node = document.createElement(tag);
    node.className = className;
    node.textContent = text;
    return node;
  }
  function makeButton(className: string, text: string, onClick: () => void) {
    const button = make("button", className, text);
    button.type = "button";
    listen(button, "click", onClick);
    return button;
  }

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
  let card: { element: Element; node: HTMLElement } | undefined;

  listen(catcher, "pointermove", (event) => actions.onHover(event.clientX, event.clientY));
  listen(catcher, "click", (event) => actions.onPick(event.clientX, event.clientY));
  // The page's own shortcuts do not see what is typed into the overlay.
  for (const kind of [
    "keydown",
    "keyup",
    "keypress",
    "input",
    "pointerdown",
    "mousedown",
    "click",
    "wheel",
  ]) {
    host.addEventListener(kind, (event) => event.stopPropagation());
  }

  function renderRows(rows: OverlayState["rows"]): void {
    list.hidden = rows.length === 0;
    const nodes = rows.map(({ comment, selector }, index) => {
      const row = make("div", "row");
      const words = make("div", "words");
      words.append(make("div", "comment-text", comment), make("div", "where", selector));
      const remove = makeButton("remove", "×", () => actions.onRemove(index));
      remove.setAttribute("aria-label", "Remove comment");
      row.append(make("div", "number", String(index + 1)), words, remove);
      return row;
    });
    const label = `Submit ${rows.length === 1 ? "comment" : `${rows.length} comments`}`;
    list.replaceChildren(...nodes, makeButton("primary", label, actions.onSubmit));
  }

  function renderEditor(editor: OverlayState["editor"]): void {
    if (editor?.element === card?.element) return;
    card?.node.remove();
    card = undefined;
    if (!editor) return;
    // No form: a sandboxed document may not submit one.
    const node = make("div", "card editor");
    const comment = make("textarea", "comment");
    comment.placeholder = "What should change here?";
    comment.setAttribute("aria-label", "Comment");
    comment.value = editor.draft;
    const buttons = make("div", "actions");
    buttons.append(
      makeButton("quiet", "Cancel", actions.onCancel),
      makeButton("primary", "Add", actions.onAdd),
    );
    node.append(make("div", "title", editor.title), comment, buttons);
    listen(comment, "input", () => actions.onDraft(comment.value));
    listen(comment, "keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      actions.onAdd();
    });
    root.append(node);
    card = { element: editor.element, node };
    const box = editor.element.getBoundingClientRect();
    const below = box.bottom + 8 + node.offsetHeight <= innerHeight;
    const top = below ? box.bottom + 8 : Math.max(8, Math.min(box.top, innerHeight) - node.offsetHeight - 8);
    const left = Math.max(8, Math.min(box.x, innerWidth - node.offsetWidth - 8));
    node.style.transform = `translate(${left}px, ${top}px)`;
    comment.focus();
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
      renderEditor(state.editor);
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
