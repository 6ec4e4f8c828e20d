/** Makes the overlay's nodes. */
export type NodeKit = {
  make: <Tag extends keyof HTMLElementTagNameMap>(
    tag: Tag,
    className: string,
    text?: string,
  ) => HTMLElementTagNameMap[Tag];
  makeButton: (className: string, text: string, onClick: () => void) => HTMLButtonElement;
  /** Listens for events that the browser marks as trusted. */
  listen: <Kind extends keyof HTMLElementEventMap>(
    node: HTMLElement,
    kind: Kind,
    handle: (event: HTMLElementEventMap[Kind]) => void,
  ) => void;
};

/**
 * Builds nodes one by one, which strict content policies and Trusted Types allow. Events that the browser does not mark as
 * trusted are ignored: `dispatchEvent` and `click()` are code, not a person. Runs inside pages, so it uses nothing from
 * outside its own braces.
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
