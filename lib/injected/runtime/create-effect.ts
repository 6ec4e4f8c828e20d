import type { PageElement } from "../../dom/make-dom.ts";
import { dom } from "./dom.ts";
import { setAttribute, setClass, setStyle } from "./edit-slot.ts";
import type { Effect } from "./effect.ts";
import { every, filter, flatMap, map } from "./lists.ts";
import { insertNodes, moveElement } from "./place-nodes.ts";
import type { CompiledChange } from "./runtime-types.ts";
import { setContent } from "./set-content.ts";

/**
 * Hides an element from view and from assistive technology. Also disables its form fields, because a hidden required
 * field would block the form. The element stays in the document: `:nth-child` still counts it, page scripts can still
 * use it, and React would throw an error if the element had left its parent. An element of the head is taken out of the
 * document instead, because hiding has no effect there.
 */
function removeElement(element: PageElement): Effect {
  const head = dom.head(document);
  if (head && dom.contains(head, element)) return moveElement(element, new DocumentFragment(), "end");
  const fields = "input,select,textarea,button";
  const disabled = filter([element, ...dom.querySelectorAll(element, fields)], (each) =>
    dom.matches(each, fields),
  );
  const parts = [
    setStyle(element, [["display", "none", "important"]]),
    ...map(disabled, (field) => setAttribute(field, "disabled", "")),
  ];
  return {
    watched: () => flatMap(parts, (part) => part.watched()),
    isIntact: () => every(parts, (part) => part.isIntact()),
    put() {
      for (const part of parts) part.put();
    },
    undo() {
      for (const part of parts) part.undo();
    },
  };
}

/**
 * Creates the effect of a change on one matching element.
 *
 * @param target the element that a `move` is relative to; undefined for other operations
 * @throws Error if the change is not possible on this element.
 */
export function createEffect(change: CompiledChange, element: PageElement, target?: PageElement): Effect {
  switch (change.op) {
    case "content":
      return setContent(element, change.nodes);
    case "attribute":
      return setAttribute(element, change.name, change.value);
    case "class":
      return setClass(element, change.name, change.isOn);
    case "style":
      return setStyle(element, change.style);
    case "insert":
      return insertNodes(element, change.position, change.nodes);
    case "move":
      return moveElement(element, target ?? element, change.position);
    case "remove":
      return removeElement(element);
  }
}
