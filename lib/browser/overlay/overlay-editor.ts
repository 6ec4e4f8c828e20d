import type { NodeKit } from "./overlay-nodes.ts";

/** The open comment box: the element that the comment is about, the element's label, and the text typed so far. */
export type OverlayEditor = { element: Element; title: string; draft: string };

type EditorActions = { onDraft: (text: string) => void; onAdd: () => void; onCancel: () => void };

/** A comment box on the page. It is shown below the commented `element`, or above it if there is no room below. */
export type EditorCard = { element: Element; remove: () => void };

/** Shows a comment box in the overlay. Runs inside pages, so it must not refer to anything outside its own body. */
export function createEditorCard(
  { make, makeButton, listen }: NodeKit,
  root: ShadowRoot,
  editor: OverlayEditor,
  actions: EditorActions,
): EditorCard {
  // A `div` instead of a `form`, because browsers block forms in sandboxed documents without `allow-forms`.
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

  const box = editor.element.getBoundingClientRect();
  const isBelow = box.bottom + 8 + node.offsetHeight <= innerHeight;
  const above = Math.max(8, Math.min(box.top, innerHeight) - node.offsetHeight - 8);
  const top = isBelow ? box.bottom + 8 : above;
  const left = Math.max(8, Math.min(box.x, innerWidth - node.offsetWidth - 8));
  node.style.transform = `translate(${left}px, ${top}px)`;
  comment.focus();
  return { element: editor.element, remove: () => node.remove() };
}
