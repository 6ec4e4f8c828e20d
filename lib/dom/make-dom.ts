/**
 * A node of a page. The type has almost no members, because a page can hide the members of a node: a form field named
 * `children` hides the `children` of its form, and an image named `body` hides the `body` of the document. Code that
 * runs inside pages therefore uses the functions of {@link Dom}. Every DOM node is assignable to this type.
 */
export type PageNode = Pick<Node, "nodeType">;
/** An element of a page. See {@link PageNode}. */
export type PageElement = PageNode & Pick<Element, "slot">;
/** A document or shadow root of a page. See {@link PageNode}. */
export type PageRoot = PageNode & Pick<DocumentOrShadowRoot, "pictureInPictureElement">;
/** A node that can have child elements. */
type PageParent = PageElement | PageRoot | DocumentFragment;

/** The members of nodes, as functions that take the node. Each function is named for its member. */
export type Dom = ReturnType<typeof makeDom>;

/**
 * Creates the functions of {@link Dom}. They keep the getters and methods that the interfaces define now, so neither the
 * names of form fields, nor properties of a single node, nor later changes of the prototypes have an effect on them. They
 * also accept nodes that another frame created. This function may be sent to a page as source, so it uses nothing from
 * outside its own body.
 */
export function makeDom() {
  const { apply, get: getProperty, set: setProperty, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
  const node = Node.prototype;
  const element = Element.prototype;
  const documents = Document.prototype;
  const fragments = DocumentFragment.prototype;

  const read =
    <Target extends PageNode>(owner: object) =>
    <Value>(name: string) => {
      // The cast is safe, because each name below is the name of an accessor property.
      const getter = getOwnPropertyDescriptor(owner, name)?.get as () => Value;
      return (target: Target): Value => apply(getter, target, []);
    };
  const call =
    <Target extends PageNode>(owner: object) =>
    <Values extends unknown[], Result>(name: string) => {
      // The cast is safe, because each name below is the name of a method.
      const method = getProperty(owner, name) as (...values: Values) => Result;
      return (target: Target, ...values: Values): Result => apply(method, target, values);
    };
  const readNode = read<PageNode>(node);
  const callNode = call<PageNode>(node);
  const callTarget = call<PageNode>(EventTarget.prototype);
  const readElement = read<PageElement>(element);
  const callElement = call<PageElement>(element);
  const readDocument = read<Document>(documents);
  const callDocument = call<Document>(documents);

  const host = read<PageNode>(ShadowRoot.prototype)<PageElement>("host");
  const nodeType = readNode<number>("nodeType");
  const parentNode = readNode<PageNode | null>("parentNode");
  /** For a member that elements, documents and fragments each define: chooses the function for the kind of the node. */
  const choose =
    <Values extends unknown[], Result>(
      make: (owner: object) => (target: PageParent, ...values: Values) => Result,
    ) =>
    (kinds = { 1: make(element), 9: make(documents), 11: make(fragments) }) =>
    (target: PageParent, ...values: Values): Result =>
      // The cast is safe, because these are the types of the three kinds of parents.
      kinds[nodeType(target) as 1 | 9 | 11](target, ...values);
  const toArray = <Item>(list: ArrayLike<Item>): Item[] => {
    const items: Item[] = [];
    for (let index = 0; index < list.length; index++) items[index] = list[index] as Item;
    return items;
  };
  const queryOne = choose((owner) =>
    call<PageParent>(owner)<[string], PageElement | null>("querySelector"),
  )();
  const queryMany = choose((owner) =>
    call<PageParent>(owner)<[string], ArrayLike<PageElement>>("querySelectorAll"),
  )();
  const children = choose((owner) => read<PageParent>(owner)<ArrayLike<PageElement>>("children"))();
  const childNodes = readNode<ArrayLike<PageNode>>("childNodes");
  const attributes = readElement<ArrayLike<Attr>>("attributes");
  const elementFromPoint = callDocument<[x: number, y: number], PageElement | null>("elementFromPoint");
  const getElementById = callDocument<[id: string], PageElement | null>("getElementById");
  const isDocument = (target: PageNode): target is Document => nodeType(target) === 9;
  const namespaceURI = readElement<string | null>("namespaceURI");
  const isContentEditable = read<PageElement>(HTMLElement.prototype)<boolean>("isContentEditable");
  const htmlStyle = read<PageElement>(HTMLElement.prototype)<CSSStyleDeclaration>("style");
  const property = (target: PageNode, name: string): unknown =>
    getProperty(getPrototypeOf(target) ?? {}, name, target);

  return {
    isElement: (target: PageNode | null | undefined): target is PageElement =>
      target !== null && target !== undefined && nodeType(target) === 1,
    /** Whether people can edit the text of an element. */
    isContentEditable: (target: PageElement): boolean =>
      namespaceURI(target) === "http://www.w3.org/1999/xhtml" && isContentEditable(target),
    isText: (target: PageNode): target is Text => nodeType(target) === 3,
    /** The element to which a shadow root belongs. Null for any other node. */
    host(target: PageNode): PageElement | null {
      if (nodeType(target) !== 11) return null;
      try {
        return host(target);
      } catch {
        // The getter refuses other fragments than shadow roots.
        return null;
      }
    },

    parentNode,
    parentElement: readNode<PageElement | null>("parentElement"),
    previousSibling: readNode<PageNode | null>("previousSibling"),
    nextSibling: readNode<PageNode | null>("nextSibling"),
    firstChild: readNode<PageNode | null>("firstChild"),
    lastChild: readNode<PageNode | null>("lastChild"),
    textContent: readNode<string | null>("textContent"),
    ownerDocument: readNode<Document | null>("ownerDocument"),
    isConnected: readNode<boolean>("isConnected"),
    getRootNode: callNode<[], PageNode>("getRootNode"),
    addEventListener: callTarget<
      [type: string, listener: (event: Event) => void, isCapturing?: boolean],
      void
    >("addEventListener"),
    removeEventListener: callTarget<[type: string, listener: () => void], void>("removeEventListener"),
    contains: callNode<[PageNode | null], boolean>("contains"),
    compareDocumentPosition: callNode<[PageNode], number>("compareDocumentPosition"),
    insertBefore: callNode<[node: PageNode, next: PageNode | null], PageNode>("insertBefore"),
    removeChild: callNode<[PageNode], PageNode>("removeChild"),
    cloneNode: callNode<[isDeep: boolean], PageNode>("cloneNode"),
    childNodes: (target: PageNode) => toArray(childNodes(target)),

    siblings(target: PageElement): PageElement[] {
      const parent = parentNode(target);
      return parent ? toArray(children(parent as PageParent)) : [];
    },
    children: (target: PageParent) => toArray(children(target)),
    // Nothing hides the members of a shadow root.
    elementFromPoint: (root: PageNode, x: number, y: number): PageElement | null =>
      root instanceof ShadowRoot
        ? root.elementFromPoint(x, y)
        : elementFromPoint(isDocument(root) ? root : document, x, y),
    getElementById(root: PageNode, id: string): PageElement | null {
      if (root instanceof ShadowRoot) return root.getElementById(id);
      return isDocument(root) ? getElementById(root, id) : null;
    },
    querySelector: queryOne,

    querySelectorAll: (target: PageParent, selector: string) => toArray(queryMany(target, selector)),

    localName: readElement<string>("localName"),
    namespaceURI,
    id: readElement<string>("id"),
    classList: readElement<DOMTokenList>("classList"),
    shadowRoot: readElement<ShadowRoot | null>("shadowRoot"),
    previousElementSibling: readElement<PageElement | null>("previousElementSibling"),
    nextElementSibling: readElement<PageElement | null>("nextElementSibling"),
    childElementCount: readElement<number>("childElementCount"),
    clientLeft: readElement<number>("clientLeft"),
    clientTop: readElement<number>("clientTop"),
    clientWidth: readElement<number>("clientWidth"),
    clientHeight: readElement<number>("clientHeight"),
    scrollWidth: readElement<number>("scrollWidth"),
    scrollHeight: readElement<number>("scrollHeight"),
    scrollTop: readElement<number>("scrollTop"),
    scrollLeft: readElement<number>("scrollLeft"),
    innerHTML: readElement<string>("innerHTML"),
    outerHTML: readElement<string>("outerHTML"),
    attributes: (target: PageElement) => toArray(attributes(target)),
    getAttribute: callElement<[string], string | null>("getAttribute"),
    hasAttribute: callElement<[string], boolean>("hasAttribute"),
    setAttribute: callElement<[name: string, value: string], void>("setAttribute"),
    removeAttribute: callElement<[string], void>("removeAttribute"),
    matches: callElement<[string], boolean>("matches"),
    closest: callElement<[string], PageElement | null>("closest"),
    getBoundingClientRect: callElement<[], DOMRect>("getBoundingClientRect"),
    checkVisibility: callElement<[options?: CheckVisibilityOptions], boolean>("checkVisibility"),
    scrollIntoView: callElement<[ScrollIntoViewOptions], void>("scrollIntoView"),
    append: callElement<PageNode[], void>("append"),
    replaceChildren: callElement<PageNode[], void>("replaceChildren"),
    replaceWith: callElement<[PageNode], void>("replaceWith"),
    remove: callElement<[], void>("remove"),
    /** The inline style. Null for an element that is neither HTML, SVG nor MathML. */
    style(target: PageElement): CSSStyleDeclaration | null {
      try {
        return htmlStyle(target);
      } catch {
        // The getter refuses other elements than HTML. The cast is safe: SVG and MathML define the same property.
        return (property(target, "style") as CSSStyleDeclaration | undefined) ?? null;
      }
    },
    /** The computed style of an element, or of one of its pseudo-elements. */
    computedStyle: (target: PageElement, pseudo?: string): CSSStyleDeclaration =>
      // The cast is safe: the type `PageElement` stands for elements.
      getComputedStyle(target as Element, pseudo),
    /** A property that only some kinds of elements have. Undefined if this element does not have it. */
    property,

    body: readDocument<PageElement | null>("body"),
    documentElement: readDocument<PageElement>("documentElement"),
    head: readDocument<PageElement | null>("head"),
    scrollingElement: readDocument<PageElement | null>("scrollingElement"),
    readyState: readDocument<DocumentReadyState>("readyState"),
    title: readDocument<string>("title"),
    fonts: readDocument<FontFaceSet>("fonts"),
    styleSheets: readDocument<StyleSheetList>("styleSheets"),
    // The cast is safe: documents and shadow roots define this property.
    adoptedStyleSheets: (root: Document | ShadowRoot) =>
      property(root, "adoptedStyleSheets") as CSSStyleSheet[],
    setAdoptedStyleSheets: (root: Document | ShadowRoot, sheets: CSSStyleSheet[]) =>
      setProperty(getPrototypeOf(root) ?? {}, "adoptedStyleSheets", sheets, root),
    createElement: callDocument<["div" | "span"], HTMLElement>("createElement"),
    createElementNS: callDocument<[namespace: string | null, name: string], PageElement>("createElementNS"),
    createComment: callDocument<[string], Comment>("createComment"),
    createTreeWalker: callDocument<[root: PageNode, whatToShow: number], TreeWalker>("createTreeWalker"),
    createTextNode: callDocument<[string], Text>("createTextNode"),
  };
}
