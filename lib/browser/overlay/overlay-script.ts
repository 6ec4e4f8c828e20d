import { cursorAt } from "./cursor-at.ts";
import { createElementNames, type ElementNames } from "./element-names.ts";
import { overlayStyles } from "./overlay-styles.ts";
import { createOverlayView, type OverlayView } from "./overlay-view.ts";

type Settings = { attribute: string; binding: string; handle: string };

/** Functions of other files, written into the page beside the overlay. */
type Parts = { names: ElementNames; cursorAt: typeof cursorAt; createView: typeof createOverlayView };

type Annotation = {
  type: "element";
  selector: string;
  comment: string;
  element: string;
  text: string;
  boundingBox: { x: number; y: number; width: number; height: number };
};

/** What the overlay tells the host through its binding; `body` is the webhook's body as JSON text. */
export type OverlayReport = { kind: "ready" } | { kind: "submit"; body: string };

/**
 * The overlay itself. It begins out of the page and enters it when the host says so. Its state lives in this closure
 * and its nodes are built anew each time it enters, so that code which got hold of earlier nodes changes nothing.
 * It runs inside pages, so it uses nothing from outside its own braces but its arguments.
 */
function runOverlay(settings: Settings, styles: string, { names, cursorAt, createView }: Parts): void {
  const { selectorOf, textOf, nameOf } = names;
  const world = globalThis as unknown as Record<string, unknown>;
  if (window.top !== window || world[settings.handle] !== undefined) return;

  let view: OverlayView | undefined;
  let pending: Annotation[] = [];
  let isPicking = false;
  let editor: { element: Element; title: string; draft: string } | undefined;
  let status = "";

  function report(message: OverlayReport): void {
    const send = world[settings.binding];
    if (typeof send === "function") send(JSON.stringify(message));
  }
  function render(): void {
    const isChoosing = isPicking && !editor;
    const idle = pending.length > 0 ? "Add another" : "Annotate";
    view?.render({
      pillText: isChoosing ? "Pick an element · Esc" : idle,
      isPicking: isChoosing,
      status,
      rows: pending,
      editor,
    });
    view?.frame(editor?.element, editor?.title ?? "");
  }

  function addAnnotation(): void {
    const comment = editor?.draft.trim();
    if (!editor || !comment) return;
    const { element } = editor;
    const box = element.getBoundingClientRect();
    pending.push({
      type: "element",
      selector: selectorOf(element),
      comment,
      element: nameOf(element),
      text: textOf(element),
      boundingBox: {
        x: Math.round(box.x + scrollX),
        y: Math.round(box.y + scrollY),
        width: Math.round(box.width),
        height: Math.round(box.height),
      },
    });
    editor = undefined;
    isPicking = false;
    render();
  }
  function closeEditor(): void {
    editor = undefined;
    render();
  }
  function summarize(): string {
    const items = pending.map(
      ({ element, selector, comment }, index) =>
        `### ${index + 1}. ${element}\n**Selector:** \`${selector}\`\n**Comment:** ${comment}\n`,
    );
    return `## Annotations: ${document.title || location.pathname}\n**URL:** ${location.href}\n\n${items.join("\n")}`;
  }
  function submit(): void {
    if (pending.length === 0) return;
    status = "Sending…";
    render();
    const body = { event: "submit", output: summarize(), annotations: pending, url: location.href };
    report({ kind: "submit", body: JSON.stringify(body) });
  }

  function enter(): void {
    view ??= createView(settings.attribute, styles, {
      onPill() {
        status = "";
        isPicking = editor !== undefined || !isPicking;
        closeEditor();
      },
      onHover(x, y) {
        const element = view?.elementAt(x, y);
        view?.frame(element, element ? nameOf(element) : "");
      },
      onPick(x, y) {
        const element = view?.elementAt(x, y);
        if (element) editor = { element, title: nameOf(element), draft: "" };
        render();
      },
      onDraft(text) {
        if (editor) editor.draft = text;
      },
      onAdd: addAnnotation,
      onCancel: closeEditor,
      onRemove(index) {
        pending.splice(index, 1);
        render();
      },
      onSubmit: submit,
    });
    view.attach();
    render();
  }
  function leave(): void {
    view?.remove();
    view = undefined;
  }

  addEventListener(
    "keydown",
    (event) => {
      if (!event.isTrusted || event.key !== "Escape" || event.isComposing) return;
      if (!view || (!editor && !isPicking)) return;
      event.stopImmediatePropagation();
      event.preventDefault();
      // The innermost thing first: an open comment box, then picking.
      if (!editor) isPicking = false;
      closeEditor();
    },
    true,
  );
  const follow = () => view?.frame(editor?.element, editor?.title ?? "");
  addEventListener("scroll", follow, { capture: true, passive: true });

  world[settings.handle] = {
    show(isShown: boolean) {
      if (isShown) enter();
      else leave();
    },
    cursorAt: (x: number, y: number) => cursorAt(x, y, view),
    /** The host's answer to a submission: undefined when it was stored, otherwise why not. */
    onAnswer(refusal: string | undefined) {
      if (refusal === undefined) pending = [];
      status =
        refusal === undefined ? "Sent. Thank you." : `Not sent: ${refusal}. Your comments are still here.`;
      render();
    },
  };
  // Pages come without a root at first, and some replace what they find in it.
  const attach = () => view?.attach();
  new MutationObserver(attach).observe(document, { childList: true, subtree: false });
  const keep = () => {
    attach();
    if (document.documentElement)
      new MutationObserver(attach).observe(document.documentElement, { childList: true });
  };
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", keep, { once: true });
  else keep();
  report({ kind: "ready" });
}

const parts = `{ names: (${createElementNames.toString()})(), cursorAt: ${cursorAt.toString()}, createView: ${createOverlayView.toString()} }`;

/** The overlay as text: a function that takes its settings. */
export const overlayScript = `(settings) => (${runOverlay.toString()})(settings, ${JSON.stringify(overlayStyles)}, ${parts})`;
