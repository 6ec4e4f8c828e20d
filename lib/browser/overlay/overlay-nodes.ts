/** Creates the overlay's DOM nodes. */
export type NodeKit = {
  make: <Tag extends keyof HTMLElementTagNameMap>(
    tag: Tag,
    className: string,
    text?: string,
  ) => HTMLElementTagNameMap[Tag];
  makeButton: (className: string, text: string, onClick: () => void) => HTMLButtonElement;
  /** Calls `handle` only for events that the browser marks as trusted (`isTrusted`). */
  listen: <Kind extends keyof HTMLElementEventMap>(
    node: HTMLElement,
    kind: Kind,
    handle: (event: HTMLElementEventMap[Kind]) => void,
  ) => void;
};

/**
 * Creates a {@link NodeKit}. Nodes are created with DOM calls, because strict content security policies and Trusted
 * Types can forbid HTML strings. Untrusted events are ignored, because code causes them (with `dispatchEvent` or
 * `click()`), not a person. Runs inside pages, so it must not refer to anything outside its own body.
 */
export function createNodeKit(): NodeKit {
  const listen: NodeKit["listen"] = (node, kind, handle) => {
    node.addEventListener(kind, (event) => {
      if (event.isTrusted) handle(event);
    });
  };
  const make: NodeKit["make"] = (tag, className, text = "") => {
    const node = document.createElement(tag);
    node.className = className;
    node.textContent = text;
    return node;
  };
  return {
    make,
    listen,
    makeButton(className, text, onClick) {
      const button = make("button", className, text);
      button.type = "button";
      listen(button, "click", onClick);
      return button;
    },
  };
}
