import type { PageElement, PageNode } from "#lib/dom/make-dom.ts";
import type { PageWatch } from "./page-watch.ts";

/**
 * A node of a document. `name` is the element's name, `#document`, `#text`, `#comment`, `#shadow-root`, or
 * `#style-sheet` for an adopted style sheet.
 */
export type DomNode = {
  name: string;
  attributes: Record<string, string>;
  /** Content of a text node, a comment or a style sheet; empty for other nodes. */
  text: string;
  children: DomNode[];
  /** Id of the change that affects this element. Null if no change does. */
  changeId: string | null;
};

export type DomSnapshot = { root: DomNode; isCut: boolean };

/**
 * Copies the document with its open shadow roots and adopted style sheets.
 */
export function snapshotDom(watch: PageWatch): DomSnapshot {
  const NODES_MAX = 30_000;
  const TEXT_MAX = 500;
  let count = 0;
  const kit = watch.newKit();
  const { dom } = kit;
  const changeOf = new Map<PageElement, string>();
  for (const change of watch.changes)
    for (const element of [...watch.verifier.subjects(kit, change), ...watch.verifier.touched(kit, change)])
      changeOf.set(element, change.id);

  const cut = (text: string) =>
    text.length > TEXT_MAX ? `${kit.beginningOf(text, TEXT_MAX)} (${text.length} characters)` : text;
  const make = (name: string, text: string, children: DomNode[]): DomNode => ({
    name,
    attributes: {},
    text: cut(text),
    children,
    changeId: null,
  });
  const copySheets = (sheets: readonly CSSStyleSheet[]): DomNode[] =>
    sheets.map((sheet) =>
      make("#style-sheet", [...sheet.cssRules].map(({ cssText }) => cssText).join("\n"), []),
    );
  const isTag = (element: PageElement): boolean =>
    dom.localName(element) === "script" && dom.getAttribute(element, "src") === watch.tagUrl;
  const copyChildren = (parent: PageNode): DomNode[] => {
    const copies: DomNode[] = [];
    for (const child of dom.childNodes(parent)) {
      const previous = copies.at(-1);
      if (count >= NODES_MAX) break;
      if (child instanceof Text) {
        // Neighbouring text nodes look the same as a single text node, so they are merged.
        if (previous?.name === "#text") previous.text = cut(previous.text + child.data);
        else if (child.data !== "") copies.push(make("#text", child.data, []));
      } else if (child instanceof Comment) copies.push(make("#comment", child.data, []));
      else if (dom.isElement(child) && !isTag(child)) copies.push(copyElement(child));
    }
    return copies;
  };
  const copyElement = (element: PageElement): DomNode => {
    count += 1;
    const shadowRoot = dom.shadowRoot(element);
    const shadow = shadowRoot
      ? [
          make("#shadow-root", "", [
            ...copySheets(shadowRoot.adoptedStyleSheets),
            ...copyChildren(shadowRoot),
          ]),
        ]
      : [];
    const attributes = dom
      .attributes(element)
      // An empty `class` or `style` attribute has no effect, so it is left out.
      .filter(({ name, value }) => value !== "" || (name !== "class" && name !== "style"))
      .map(({ name, value }) => [name, cut(value)]);
    return {
      name: dom.localName(element),
      attributes: Object.fromEntries(attributes),
      text: "",
      children: [...shadow, ...copyChildren(element)],
      changeId: changeOf.get(element) ?? null,
    };
  };
  const root = make("#document", "", [
    ...copySheets(dom.adoptedStyleSheets(document)),
    ...copyChildren(document),
  ]);
  return { root, isCut: count >= NODES_MAX };
}
