import type { ElementNames } from "./element-names.ts";
import type { OverlayState } from "./overlay-view.ts";

type Annotation = {
  type: "element";
  selector: string;
  comment: string;
  element: string;
  text: string;
  boundingBox: { x: number; y: number; width: number; height: number };
};

/** The state of the overlay: the comments that are not submitted, and whether the person picks an element or writes. */
type OverlayModel = {
  read: () => OverlayState;
  /** Starts or stops the picking of an element. If a comment box is open, discards it and starts picking again. */
  togglePicking: () => void;
  /** Opens the comment box for an element. */
  pick: (element: Element) => void;
  setDraft: (text: string) => void;
  /** Adds the comment in the open box to the list, closes the box and stops picking. Ignores an empty comment. */
  add: () => void;
  closeEditor: () => void;
  remove: (index: number) => void;
  /**
   * Closes the open comment box. If none is open, stops picking.
   * @returns false if no box was open and no element was being picked.
   */
  escape: () => boolean;
  /**
   * Begins to submit the comments.
   * @returns the body for the annotation webhook as JSON text; undefined if there are no comments.
   */
  beginSubmit: () => string | undefined;
  /** Ends the submission. `refusal` is the reason why it was not stored; undefined if it was stored. */
  endSubmit: (refusal: string | undefined) => void;
};

/**
 * Creates the model of the overlay in one document. Runs inside pages, so it must not refer to anything outside its own
 * body.
 */
export function createOverlayModel({ selectorOf, textOf, nameOf }: ElementNames): OverlayModel {
  let pending: Annotation[] = [];
  let isPicking = false;
  let editor: OverlayState["editor"];
  let status = "";

  function annotate(element: Element, comment: string): Annotation {
    const box = element.getBoundingClientRect();
    return {
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
    };
  }
  function summarize(): string {
    const items = pending.map(
      ({ element, selector, comment }, index) =>
        `### ${index + 1}. ${element}\n**Selector:** \`${selector}\`\n**Comment:** ${comment}\n`,
    );
    return `## Annotations: ${document.title || location.pathname}\n**URL:** ${location.href}\n\n${items.join("\n")}`;
  }

  return {
    read() {
      const isChoosing = isPicking && !editor;
      const idleText = pending.length > 0 ? "Add another" : "Annotate";
      const pillText = isChoosing ? "Pick an element · Esc" : idleText;
      return { pillText, isPicking: isChoosing, status, rows: pending, editor };
    },
    togglePicking() {
      status = "";
      isPicking = editor !== undefined || !isPicking;
      editor = undefined;
    },
    pick(element) {
      editor = { element, title: nameOf(element), draft: "" };
    },
    setDraft(text) {
      if (editor) editor.draft = text;
    },
    add() {
      const comment = editor?.draft.trim();
      if (!editor || !comment) return;
      pending.push(annotate(editor.element, comment));
      editor = undefined;
      isPicking = false;
    },
    closeEditor() {
      editor = undefined;
    },
    remove(index) {
      pending.splice(index, 1);
    },
    escape() {
      if (!editor && !isPicking) return false;
      if (!editor) isPicking = false;
      editor = undefined;
      return true;
    },
    beginSubmit() {
      if (pending.length === 0) return undefined;
      status = "Sending…";
      const body = { event: "submit", output: summarize(), annotations: pending, url: location.href };
      return JSON.stringify(body);
    },
    endSubmit(refusal) {
      if (refusal === undefined) pending = [];
      status =
        refusal === undefined ? "Sent. Thank you." : `Not sent: ${refusal}. Your comments are still here.`;
    },
  };
}
