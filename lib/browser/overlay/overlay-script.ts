import { cursorAt } from "./cursor-at.ts";
import { createElementNames, type ElementNames } from "./element-names.ts";
import { overlayStyles } from "./overlay-styles.ts";

type Settings = { attribute: string; binding: string; handle: string };

/** Functions of other files, written into the page beside the overlay. */
type Parts = { names: ElementNames; cursorAt: typeof cursorAt };

type Annotation = {
  type: "element";
  selector: string;
  comment: string;
  element: string;
  text: string;
  boundingBox: { x: number; y: number; width: number; height: number };
};

/**
 * The overlay itself. It runs inside pages, so it may use nothing from outside its own braces but its arguments.
 * All of it stands in a closed shadow root, is built node by node (Trusted Types, strict content policies) and
 * styled by an adopted sheet.
 */
function runOverlay(settings: Settings, styles: string, { names, cursorAt }: Parts): void {
  const { selectorOf, textOf, nameOf } = names;
  const world = globalThis as unknown as Record<string, unknown>;
  if (window.top !== window || world[settings.handle] !== undefined) return;

  const host = document.createElement("div");
  host.setAttribute(settings.attribute, "");
  host.style.setProperty("all", "initial", "important");
  const root = host.attachShadow({ mode: "closed" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(styles);
  root.adoptedStyleSheets = [sheet];

  function make<Tag extends keyof HTMLElementTagNameMap>(tag: Tag, className: string, text = "") {
    const node = document.createElement(tag);
    node.className = className;
    node.textContent = text;
    return node;
  }
  function makeButton(className: string, text: string, onClick: () => void) {
    const button = make("button", className, text);
    button.type = "button";
    button.addEventListener("click", onClick);
    return button;
  }

  const catcher = make("div", "catcher");
  const outline = make("div", "outline");
  const tag = make("div", "tag");
  const dock = make("div", "dock");
  const list = make("div", "card list");
  const pill = makeButton("pill", "Annotate", togglePicking);
  const status = make("div", "status");
  status.setAttribute("role", "status");
  outline.append(tag);
  dock.append(status, list, pill);
  catcher.hidden = outline.hidden = list.hidden = status.hidden = true;
  root.append(catcher, outline, dock);

  let pending: Annotation[] = [];
  let picked: Element | undefined;
  let editor: HTMLElement | undefined;

  function elementAt(x: number, y: number): Element | undefined {
    host.style.setProperty("display", "none", "important");
    const found = document.elementFromPoint(x, y);
    host.style.removeProperty("display");
    return found && found !== document.documentElement ? found : undefined;
  }
  function frame(element: Element | undefined): void {
    outline.hidden = element === undefined;
    if (!element) return;
    const box = element.getBoundingClientRect();
    outline.style.transform = `translate(${box.x}px, ${box.y}px)`;
    outline.style.width = `${box.width}px`;
    outline.style.height = `${box.height}px`;
    tag.textContent = nameOf(element);
    tag.classList.toggle("inside", box.y < 26);
  }

  function say(text: string): void {
    status.textContent = text;
    status.hidden = text === "";
  }
  function setPicking(isPicking: boolean): void {
    catcher.hidden = !isPicking;
    pill.classList.toggle("active", isPicking);
    pill.textContent = isPicking ? "Pick an element · Esc" : pending.length > 0 ? "Add another" : "Annotate";
    if (!isPicking && !editor) frame(undefined);
  }
  function togglePicking(): void {
    say("");
    closeEditor();
    setPicking(catcher.hidden === true);
  }
  function closeEditor(): void {
    editor?.remove();
    editor = undefined;
    picked = undefined;
    frame(undefined);
  }

  function openEditor(element: Element): void {
    picked = element;
    // No form: a sandboxed document may not submit any.
    const card = make("div", "card editor");
    const comment = make("textarea", "comment");
    comment.placeholder = "What should change here?";
    comment.setAttribute("aria-label", "Comment");
    const actions = make("div", "actions");
    const add = () => addAnnotation(element, comment.value.trim());
    actions.append(makeButton("quiet", "Cancel", closeEditor), makeButton("primary", "Add", add));
    card.append(make("div", "title", nameOf(element)), comment, actions);
    comment.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        add();
      }
    });
    editor = card;
    root.append(card);
    const box = element.getBoundingClientRect();
    const below = box.bottom + 8 + card.offsetHeight <= innerHeight;
    const top = below ? box.bottom + 8 : Math.max(8, Math.min(box.top, innerHeight) - card.offsetHeight - 8);
    const left = Math.max(8, Math.min(box.x, innerWidth - card.offsetWidth - 8));
    card.style.transform = `translate(${left}px, ${top}px)`;
    comment.focus();
  }

  function addAnnotation(element: Element, comment: string): void {
    if (comment === "") return;
    const box = element.getBoundingClientRect();
    const boundingBox = {
      x: Math.round(box.x + scrollX),
      y: Math.round(box.y + scrollY),
      width: Math.round(box.width),
      height: Math.round(box.height),
    };
    const selector = selectorOf(element);
    pending.push({
      type: "element",
      selector,
      comment,
      element: nameOf(element),
      text: textOf(element),
      boundingBox,
    });
    closeEditor();
    showList();
  }

  function showList(): void {
    list.hidden = pending.length === 0;
    const rows = pending.map((annotation, index) => {
      const row = make("div", "row");
      const words = make("div", "words");
      words.append(
        make("div", "comment-text", annotation.comment),
        make("div", "where", annotation.selector),
      );
      const remove = makeButton("remove", "×", () => {
        pending = pending.filter((each) => each !== annotation);
        showList();
      });
      remove.setAttribute("aria-label", "Remove comment");
      row.append(make("div", "number", String(index + 1)), words, remove);
      return row;
    });
    const submit = makeButton(
      "primary",
      `Submit ${pending.length === 1 ? "comment" : `${pending.length} comments`}`,
      send,
    );
    list.replaceChildren(...rows, submit);
    setPicking(false);
  }

  function summarize(): string {
    const items = pending.map(
      ({ element, selector, comment }, index) =>
        `### ${index + 1}. ${element}\n**Selector:** \`${selector}\`\n**Comment:** ${comment}\n`,
    );
    return `## Annotations: ${document.title || location.pathname}\n**URL:** ${location.href}\n\n${items.join("\n")}`;
  }
  function send(): void {
    const report = world[settings.binding];
    if (typeof report !== "function" || pending.length === 0) return;
    say("Sending…");
    report(
      JSON.stringify({ event: "submit", output: summarize(), annotations: pending, url: location.href }),
    );
  }

  catcher.addEventListener("pointermove", (event) => frame(elementAt(event.clientX, event.clientY)));
  catcher.addEventListener("click", (event) => {
    const element = elementAt(event.clientX, event.clientY);
    if (!element) return;
    setPicking(false);
    frame(element);
    openEditor(element);
  });
  // What is typed into the overlay is not for the page's own shortcuts.
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
  addEventListener(
    "keydown",
    (event) => {
      if (event.key !== "Escape" || (catcher.hidden && !editor)) return;
      event.stopImmediatePropagation();
      event.preventDefault();
      closeEditor();
      setPicking(false);
    },
    true,
  );
  addEventListener("scroll", () => frame(editor && picked), { capture: true, passive: true });

  function attach(): void {
    if (!host.isConnected) document.documentElement?.append(host);
  }
  world[settings.handle] = {
    show(isShown: boolean) {
      if (isShown) host.style.removeProperty("display");
      else host.style.setProperty("display", "none", "important");
    },
    cursorAt: (x: number, y: number) => cursorAt(x, y, { host, root }),
    onAnswer(isStored: boolean) {
      if (isStored) pending = [];
      showList();
      say(isStored ? "Sent. Thank you." : "It could not be sent. Please try again.");
    },
  };
  // Pages come without a root at first, and some replace what they find in it.
  new MutationObserver(attach).observe(document, { childList: true, subtree: false });
  const keep = () => {
    attach();
    if (document.documentElement)
      new MutationObserver(attach).observe(document.documentElement, { childList: true });
  };
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", keep, { once: true });
  else keep();
}

const parts = `{ names: (${createElementNames.toString()})(), cursorAt: ${cursorAt.toString()} }`;

/** The overlay as text: a function that takes its settings. */
export const overlayScript = `(settings) => (${runOverlay.toString()})(settings, ${JSON.stringify(overlayStyles)}, ${parts})`;
