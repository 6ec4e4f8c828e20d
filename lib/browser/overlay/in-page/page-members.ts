/**
 * Creates functions that read members of a page's nodes from the prototypes. Forms and documents are read with these
 * only: a form field or an image named `children` hides the form's or the document's own member, even in the overlay's
 * isolated world. Built-ins that a page replaces are replaced in the page's own world only. Runs inside pages, so it
 * must not refer to anything outside its own body.
 */
export function createPageMembers() {
  const reader = <Target extends object, Name extends keyof Target & string>(target: Target, name: Name) => {
    const read = Object.getOwnPropertyDescriptor(target, name)?.get;
    if (!read) throw new TypeError(`${name} is not a property`);
    return (node: Target): Target[Name] => read.call(node);
  };
  const { hasAttribute, getAttribute, getBoundingClientRect, checkVisibility } = Element.prototype;
  const { getRootNode } = Node.prototype;
  const { elementFromPoint } = Document.prototype;
  const queries = [Document.prototype, DocumentFragment.prototype] as const;
  return {
    nodeType: reader(Node.prototype, "nodeType"),
    parentElement: reader(Node.prototype, "parentElement"),
    textContent: reader(Node.prototype, "textContent"),
    ownerDocument: reader(Node.prototype, "ownerDocument"),
    localName: reader(Element.prototype, "localName"),
    id: reader(Element.prototype, "id"),
    children: reader(Element.prototype, "children"),
    previousElementSibling: reader(Element.prototype, "previousElementSibling"),
    nextElementSibling: reader(Element.prototype, "nextElementSibling"),
    shadowRoot: reader(Element.prototype, "shadowRoot"),
    clientLeft: reader(Element.prototype, "clientLeft"),
    clientTop: reader(Element.prototype, "clientTop"),
    innerText: reader(HTMLElement.prototype, "innerText"),
    contentDocument: reader(HTMLIFrameElement.prototype, "contentDocument"),
    documentElement: reader(Document.prototype, "documentElement"),
    title: reader(Document.prototype, "title"),
    readyState: reader(Document.prototype, "readyState"),
    rootOf: (node: Node) => getRootNode.call(node),
    hasAttribute: (element: Element, name: string) => hasAttribute.call(element, name),
    getAttribute: (element: Element, name: string) => getAttribute.call(element, name),
    isVisible: (element: Element) => checkVisibility.call(element, { visibilityProperty: true }),
    boxOf: (element: Element) => getBoundingClientRect.call(element),
    elementFromPoint: (document: Document, x: number, y: number) => elementFromPoint.call(document, x, y),
    countMatches(root: Node, selector: string): number {
      const [ofDocument, ofFragment] = queries;
      const { querySelectorAll } = root instanceof Document ? ofDocument : ofFragment;
      return querySelectorAll.call(root, selector).length;
    },
  };
}

/** @see createPageMembers */
export type PageMembers = ReturnType<typeof createPageMembers>;
