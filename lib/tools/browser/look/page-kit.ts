/** What functions that run inside a page share. */
export type PageKit = {
  /** The document and every open shadow root below it, in document order; our overlay's are left out. */
  roots: () => (Document | ShadowRoot)[];
  /** Elements by CSS selector, open shadow roots pierced; `a >> b` looks for `b` inside `a`, `nth=1` takes the second. */
  queryAll: (selector: string) => Element[];
  isOverlay: (node: Node) => boolean;
  isVisible: (element: Element) => boolean;
  /** A short selector that finds this element alone; null inside a closed shadow root. */
  selectorOf: (element: Element) => string | null;
};

/**
 * Builds the kit. It is sent to the page as source and runs there in a world of its own: it must not use anything from
 * outside its own body. Page scripts cannot see or change that world.
 */
export function makePageKit(): PageKit {
  const overlay = "[data-agent-session-overlay]";
  const testAttributes = ["data-testid", "data-test-id", "data-test", "data-qa", "data-cy"];
  const namingAttributes = [
    "name",
    "aria-label",
    "placeholder",
    "for",
    "href",
    "title",
    "alt",
    "type",
    "role",
  ];
  let knownRoots: (Document | ShadowRoot)[] | undefined;
  const counts = new Map<string, number>();

  const isOverlay = (node: Node): boolean => {
    for (let current: Node | null = node; current; ) {
      if (current instanceof Element && current.closest(overlay)) return true;
      const root: Node = current.getRootNode();
      current = root instanceof ShadowRoot ? root.host : null;
    }
    return false;
  };

  const collectRoots = (root: Document | ShadowRoot, found: (Document | ShadowRoot)[]) => {
    found.push(root);
    for (const element of root.querySelectorAll("*")) {
      if (element.shadowRoot && !element.closest(overlay)) collectRoots(element.shadowRoot, found);
    }
    return found;
  };
  const roots = () => {
    knownRoots ??= collectRoots(document, []);
    return knownRoots;
  };

  const queryWithin = (scopes: (Document | ShadowRoot | Element)[], selector: string): Element[] => {
    const found = new Set<Element>();
    for (const scope of scopes) {
      if (scope === document) {
        for (const root of roots()) for (const element of root.querySelectorAll(selector)) found.add(element);
        continue;
      }
      for (const element of scope.querySelectorAll(selector)) found.add(element);
      const inner = scope instanceof Element && scope.shadowRoot ? [scope.shadowRoot] : [];
      for (const child of scope.querySelectorAll("*")) if (child.shadowRoot) inner.push(child.shadowRoot);
      for (const element of queryWithin(inner, selector)) found.add(element);
    }
    return [...found];
  };
  const queryAll = (selector: string): Element[] => {
    let scopes: (Document | ShadowRoot | Element)[] = [document];
    for (const part of selector.split(/\s*>>\s*/)) {
      const nth = part.match(/^nth=(\d+)$/)?.[1];
      scopes = nth === undefined ? queryWithin(scopes, part) : scopes.slice(Number(nth), Number(nth) + 1);
    }
    return (scopes as Element[]).filter((element) => !isOverlay(element));
  };

  const isUnique = (selector: string): boolean => {
    let count = counts.get(selector);
    if (count === undefined) {
      count = 0;
      for (const root of roots()) count += root.querySelectorAll(selector).length;
      counts.set(selector, count);
    }
    return count === 1;
  };

  const quote = (value: string) => `"${value.replace(/["\\]/g, "\\$&").replace(/\n/g, "\\a ")}"`;
  /** Ids that a framework counts or hashes change with the next build or render. */
  const looksGenerated = (value: string) =>
    /\d{4,}|[:.]|^[a-z]{0,3}-?\d+$|[0-9a-f]{8,}|^(radix|headlessui|react|mui|ember|ext-gen)/i.test(value);

  const nameSelector = (element: Element): string | null => {
    const tag = element.localName;
    const id = element.id;
    if (id && !looksGenerated(id) && isUnique(`#${CSS.escape(id)}`)) return `#${CSS.escape(id)}`;
    for (const attribute of testAttributes) {
      const value = element.getAttribute(attribute);
      if (value && isUnique(`[${attribute}=${quote(value)}]`)) return `[${attribute}=${quote(value)}]`;
    }
    for (const attribute of namingAttributes) {
      const value = element.getAttribute(attribute);
      if (!value || value.length > 120) continue;
      const selector = `${tag}[${attribute}=${quote(value)}]`;
      if (isUnique(selector)) return selector;
    }
    const type = element.getAttribute("type");
    const value = element.getAttribute("value");
    const name = element.getAttribute("name");
    if (name && type && value && type !== "password" && value.length < 80) {
      const selector = `${tag}[name=${quote(name)}][value=${quote(value)}]`;
      if (isUnique(selector)) return selector;
    }
    if (["html", "body", "main", "h1"].includes(tag) && isUnique(tag)) return tag;
    return null;
  };

  const placeAmongSiblings = (element: Element): string => {
    const siblings = [...(element.parentNode?.children ?? [])].filter(
      (one) => one.localName === element.localName,
    );
    const tag = CSS.escape(element.localName);
    return siblings.length > 1 ? `${tag}:nth-of-type(${siblings.indexOf(element) + 1})` : tag;
  };

  const selectorOf = (element: Element): string | null => {
    const named = nameSelector(element);
    if (named) return named;
    const steps: string[] = [];
    for (let current: Element = element; ; ) {
      steps.unshift(placeAmongSiblings(current));
      const path = steps.join(" > ");
      if (steps.length > 1 && steps.length < 5 && isUnique(path)) return path;
      const parent: ParentNode | null = current.parentNode;
      if (parent instanceof Element) {
        const anchor = nameSelector(parent);
        if (anchor) return `${anchor} > ${path}`;
        current = parent;
        continue;
      }
      if (!(parent instanceof ShadowRoot)) return path;
      // Asking a browser-made shadow root for its mode crashes Chromium's renderer; this asks the host instead.
      if (parent.host.shadowRoot !== parent) return null;
      const host = selectorOf(parent.host);
      if (!host) return null;
      // Inside the host the path may be found again in further shadow roots: then its place among them decides.
      const places = queryAll(`${host} >> ${path}`);
      return places.length === 1
        ? `${host} >> ${path}`
        : `${host} >> ${path} >> nth=${places.indexOf(element)}`;
    }
  };

  const isVisible = (element: Element): boolean => {
    if (
      !element.checkVisibility({
        opacityProperty: true,
        visibilityProperty: true,
        contentVisibilityAuto: true,
      })
    ) {
      return false;
    }
    const box = element.getBoundingClientRect();
    return (box.width > 0 && box.height > 0) || getComputedStyle(element).display === "contents";
  };

  return { roots, queryAll, isOverlay, isVisible, selectorOf };
}
