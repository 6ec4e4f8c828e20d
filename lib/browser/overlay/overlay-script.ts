import { beginningOf } from "#lib/text/whole-characters.ts";
import { cursorAt } from "./cursor-at.ts";
import { createElementNames, type ElementNames } from "./element-names.ts";
import { createEditorCard } from "./overlay-editor.ts";
import { createOverlayModel } from "./overlay-model.ts";
import { createNodeKit } from "./overlay-nodes.ts";
import { overlayStyles } from "./overlay-styles.ts";
import { createOverlayView, type OverlayView, type ViewParts } from "./overlay-view.ts";

type Settings = { attribute: string; binding: string; handle: string };

/** Functions and a style sheet from other files. The page gets them as text, together with the overlay's source. */
type Parts = ViewParts & {
  names: ElementNames;
  cursorAt: typeof cursorAt;
  createModel: typeof createOverlayModel;
  createView: typeof createOverlayView;
};

/**
 * A message from the overlay to the service. `ready`: the overlay has started. `submit`: a person submits comments;
 * `body` is the body for the annotation webhook as JSON text.
 */
export type OverlayReport = { kind: "ready" } | { kind: "submit"; body: string };

/**
 * Runs the overlay in a page. Adds the overlay's nodes to the page when the service calls `show(true)`. The nodes are
 * new each time, so that page code with references to earlier nodes cannot affect the overlay. Runs inside pages, so it
 * must not refer to anything outside its own body.
 */
function runOverlay(settings: Settings, parts: Parts): void {
  const world = globalThis as unknown as Record<string, unknown>;
  if (window.top !== window || world[settings.handle] !== undefined) return;

  const { names, cursorAt, createModel, createView } = parts;
  const model = createModel(names);
  let view: OverlayView | undefined;

  function report(message: OverlayReport): void {
    const send = world[settings.binding];
    if (typeof send === "function") send(JSON.stringify(message));
  }
  function frameEditor(): void {
    const { editor } = model.read();
    view?.frame(editor?.element, editor?.title ?? "");
  }
  function render(): void {
    view?.render(model.read());
    frameEditor();
  }
  function change<Values extends unknown[]>(act: (...values: Values) => void) {
    return (...values: Values) => {
      act(...values);
      render();
    };
  }
  function submit(): void {
    const body = model.beginSubmit();
    if (body === undefined) return;
    render();
    report({ kind: "submit", body });
  }

  function enter(): void {
    view ??= createView(settings.attribute, parts, {
      onPill: change(model.togglePicking),
      onHover(x, y) {
        const element = view?.elementAt(x, y);
        view?.frame(element, element ? names.nameOf(element) : "");
      },
      onPick: change((x, y) => {
        const element = view?.elementAt(x, y);
        if (element) model.pick(element);
      }),
      onDraft: model.setDraft,
      onAdd: change(model.add),
      onCancel: change(model.closeEditor),
      onRemove: change(model.remove),
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
      if (!view || !model.escape()) return;
      event.stopImmediatePropagation();
      event.preventDefault();
      render();
    },
    true,
  );
  addEventListener("scroll", frameEditor, { capture: true, passive: true });

  world[settings.handle] = {
    show(isShown: boolean) {
      if (isShown) enter();
      else leave();
    },
    cursorAt: (x: number, y: number) => cursorAt(x, y, view),
    onAnswer: change(model.endSubmit),
  };
  // Attaches the overlay again after the page has removed it, for example by replacing the document's root element or
  // the children of the root element.
  const attach = () => view?.attach();
  new MutationObserver(attach).observe(document, { childList: true, subtree: false });
  const attachLastingly = () => {
    attach();
    if (document.documentElement)
      new MutationObserver(attach).observe(document.documentElement, { childList: true });
  };
  if (document.readyState === "loading")
    addEventListener("DOMContentLoaded", attachLastingly, { once: true });
  else attachLastingly();
  report({ kind: "ready" });
}

const parts = `{
  styles: ${JSON.stringify(overlayStyles)},
  nodes: (${createNodeKit.toString()})(),
  createEditor: ${createEditorCard.toString()},
  names: (${createElementNames.toString()})(${beginningOf.toString()}),
  cursorAt: ${cursorAt.toString()},
  createModel: ${createOverlayModel.toString()},
  createView: ${createOverlayView.toString()}
}`;

/** Source code of a function that takes the settings and runs the overlay. */
export const overlayScript = `(settings) => (${runOverlay.toString()})(settings, ${parts})`;
