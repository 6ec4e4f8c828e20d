import type { Box, OverlayState } from "./overlay-state.ts";

/** Creates a `div` of the overlay with a class and a text. */
export type MakeNode = (className: string, text?: string) => HTMLElement;

/** The comment box in the page. */
export type EditorCard = {
  node: HTMLElement;
  /** The parts that can be pressed. */
  parts: { comment: HTMLElement; add: HTMLElement; cancel: HTMLElement };
  draw: (editor: NonNullable<OverlayState["editor"]>) => void;
  /** Returns the position in the text that is closest to a point of the viewport. */
  positionAt: (x: number, y: number) => number;
};

/**
 * Creates the comment box. It only draws: the service has the text and the caret, because keys go to the service and
 * not to the page.
 */
export function createEditorCard(make: MakeNode): EditorCard {
  const node = make("card editor");
  const title = make("title");
  const comment = make("comment");
  const typed = make("typed");
  const hint = make("hint", "What should change here?");
  const caret = make("caret");
  const marks = make("marks");
  const actions = make("actions");
  const add = make("primary", "Add");
  const cancel = make("quiet", "Cancel");
  const text = new Text();
  typed.append(text);
  comment.append(marks, typed, hint, caret);
  actions.append(cancel, add);
  node.append(title, comment, actions);
  const range = new Range();

  function place(node: HTMLElement, box: Box): void {
    const origin = comment.getBoundingClientRect();
    node.style.left = `${box.x - origin.x - comment.clientLeft + comment.scrollLeft}px`;
    node.style.top = `${box.y - origin.y - comment.clientTop + comment.scrollTop}px`;
    node.style.width = `${Math.max(1, box.width)}px`;
    node.style.height = `${box.height}px`;
  }
  function boxAt(position: number): DOMRect {
    range.setStart(text, position);
    range.collapse(true);
    return range.getBoundingClientRect();
  }
  /** Moves the card below the commented element, or above it if there is no room below. */
  function moveTo(at: Box): void {
    const isBelow = at.y + at.height + 8 + node.offsetHeight <= innerHeight;
    const above = Math.max(8, Math.min(at.y, innerHeight) - node.offsetHeight - 8);
    const top = isBelow ? Math.max(8, at.y + at.height + 8) : above;
    const left = Math.max(8, Math.min(at.x, innerWidth - node.offsetWidth - 8));
    node.style.transform = `translate(${left}px, ${top}px)`;
  }

  return {
    node,
    parts: { comment, add, cancel },
    draw(editor) {
      title.textContent = editor.title;
      // A line break at the end has a box for the caret only if something follows.
      text.data = `${editor.text}\u200b`;
      hint.hidden = editor.text !== "";
      moveTo(editor.at);
      const first = boxAt(editor.caret);
      const frame = comment.getBoundingClientRect();
      if (first.bottom > frame.bottom - 6) comment.scrollTop += first.bottom - frame.bottom + 6;
      if (first.top < frame.top + 6) comment.scrollTop += first.top - frame.top - 6;
      place(caret, boxAt(editor.caret));
      caret.style.width = "1px";
      range.setStart(text, Math.min(editor.anchor, editor.caret));
      range.setEnd(text, Math.max(editor.anchor, editor.caret));
      const boxes = range.collapsed ? [] : [...range.getClientRects()].slice(0, 1_000);
      marks.replaceChildren(
        ...boxes.map((box) => {
          const mark = make("selected");
          place(mark, box);
          return mark;
        }),
      );
    },
    positionAt(x, y) {
      let best = { position: 0, distance: Number.POSITIVE_INFINITY };
      for (let position = 0; position < text.length; position += 1) {
        const box = boxAt(position);
        const outside = Math.max(0, box.top - y, y - box.bottom);
        const distance = outside * 10_000 + Math.abs(box.x - x);
        if (distance < best.distance) best = { position, distance };
      }
      return best.position;
    },
  };
}
