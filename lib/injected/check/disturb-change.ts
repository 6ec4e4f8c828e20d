import type { PageElement, PageNode } from "#lib/dom/make-dom.ts";
import type { PageWatch } from "./page-watch.ts";

/** A copy of a node, taken from the page without the variant. */
type NodeCopy =
  | string
  | {
      name: string;
      namespace: string | null;
      attributes: [name: string, value: string][];
      children: NodeCopy[];
    };

/** An element that a change matches, in its state without the variant. */
export type OriginalElement = {
  copy: NodeCopy;
  /** Name and id of the element. */
  identity: string;
  /** Index of the element among all elements of the page itself that the change matches. */
  position: number;
  /** Selector of the element's parent; null if the parent is not an element. */
  parentSelector: string | null;
  /** Index of the element among its parent's child elements. */
  index: number;
};

/**
 * How the check imitates a framework that renders again: `restore` undoes the change and keeps the existing elements,
 * `replace` replaces each element with a copy of the original.
 */
export type Disturbance = "restore" | "replace";

/**
 * Copies the elements that the changes match in a page without the variant: at most ten for each change, and none with
 * more than 2,000 descendants.
 */
export function readOriginals(watch: PageWatch): Record<string, OriginalElement[]> {
  const ELEMENTS_MAX = 10;
  const NODES_MAX = 2_000;
  const kit = watch.newKit();
  const { dom } = kit;
  const copy = (node: PageNode): NodeCopy[] => {
    if (node instanceof Text) return [node.data];
    if (!dom.isElement(node)) return [];
    const attributes = dom.attributes(node).map(({ name, value }): [string, string] => [name, value]);
    const children = dom.childNodes(node).flatMap(copy);
    return [{ name: dom.localName(node), namespace: dom.namespaceURI(node), attributes, children }];
  };
  return Object.fromEntries(
    watch.changes.map((change) => {
      const elements = watch.verifier.subjects(kit, change).slice(0, ELEMENTS_MAX);
      const originals = elements.flatMap((element, position): OriginalElement[] => {
        const [whole] = dom.querySelectorAll(element, "*").length > NODES_MAX ? [] : copy(element);
        if (whole === undefined) return [];
        const parent = dom.parentElement(element);
        const parentSelector = parent && kit.selectorOf(parent);
        const index = parent ? dom.children(parent).indexOf(element) : 0;
        const identity = `${dom.localName(element)}#${dom.id(element)}`;
        return [{ copy: whole, identity, position, parentSelector, index }];
      });
      return [change.id, originals];
    }),
  );
}

/** The outcome for a change after its elements were rendered again. */
type RenderOutcome = {
  /**
   * Whether at least one element was overwritten, put back or removed. This is false, for example, if no element has a
   * copy, or if the change was not applied before. `html`, `head` and `body` are never replaced.
   */
  isDisturbed: boolean;
  isApplied: boolean;
  /** Whether the inserted nodes are in the document more often than before. */
  isRepeated: boolean;
};

/**
 * Undoes a change on its elements, as a page does when it renders again. Then waits until the change is applied again,
 * or until `maxMs` have passed.
 */
export async function disturbChange(
  watch: PageWatch,
  {
    id,
    way,
    originals,
    maxMs,
  }: { id: string; way: Disturbance; originals: OriginalElement[]; maxMs: number },
): Promise<RenderOutcome> {
  const untouched = { isDisturbed: false, isApplied: true, isRepeated: false };
  const change = watch.changes.find((each) => each.id === id);
  if (!change) return untouched;
  const kit = watch.newKit();
  const { dom } = kit;
  const build = (copy: NodeCopy): PageNode => {
    if (typeof copy === "string") return dom.createTextNode(document, copy);
    const element = dom.createElementNS(document, copy.namespace, copy.name);
    for (const [name, value] of copy.attributes) {
      // The `src` of a script is left out, because it would make the script run again.
      if (copy.name !== "script" || name !== "src") dom.setAttribute(element, name, value);
    }
    if (copy.name === "script") dom.setAttribute(element, "type", "text/plain");
    dom.append(element, ...copy.children.map(build));
    return element;
  };
  const writeStyle = (element: PageElement, text: string) => {
    const style = dom.style(element);
    if (style) style.cssText = text;
    else dom.setAttribute(element, "style", text);
  };
  const restoreAttribute = (element: PageElement, original: NodeCopy, name: string) => {
    const [, value] =
      (typeof original === "string" ? [] : original.attributes).find(([each]) => each === name) ?? [];
    if (value === undefined) dom.removeAttribute(element, name);
    else if (name === "style") writeStyle(element, value);
    else dom.setAttribute(element, name, value);
  };
  const restoreContent = (element: PageElement, original: NodeCopy) => {
    const children = typeof original === "string" ? [] : original.children;
    const [only] = dom.childNodes(element);
    // If the only child is a text node, a framework updates that node instead of replacing it.
    if (
      only instanceof Text &&
      dom.childNodes(element).length === 1 &&
      typeof children[0] === "string" &&
      children.length === 1
    )
      only.data = children[0];
    else dom.replaceChildren(element, ...children.map(build));
  };
  // A change of another kind may have inserted elements that the selector matches too. They have no original.
  const elements = watch.verifier.subjects(kit, change).filter((each) => !watch.verifier.isBuilt(kit, each));
  const isSame = (element: PageElement, { identity }: OriginalElement) =>
    `${dom.localName(element)}#${dom.id(element)}` === identity;
  /** Finds the element that was copied: an element with the same name and id, if possible at the same position. */
  const findElement = (original: OriginalElement): PageElement | undefined => {
    const element = elements[original.position];
    if (element && isSame(element, original)) return element;
    const same = elements.filter((each) => isSame(each, original));
    return same.length === 1 ? same[0] : undefined;
  };
  const putBack = (original: OriginalElement): boolean => {
    const { copy, parentSelector, index } = original;
    const element = findElement(original);
    const around = element && dom.parentNode(element);
    if (element && around) {
      dom.insertBefore(around, build(copy), element);
      return true;
    }
    const parent = parentSelector === null ? undefined : kit.queryAll(parentSelector)[0];
    if (!parent) return false;
    dom.insertBefore(parent, build(copy), dom.children(parent)[index] ?? null);
    return true;
  };
  const restore = (element: PageElement, { copy }: OriginalElement): boolean => {
    switch (change.op) {
      case "setText":
      case "setHtml":
        restoreContent(element, copy);
        return true;
      case "setAttribute":
      case "removeAttribute":
        restoreAttribute(element, copy, change.name);
        return true;
      case "addClass":
      case "removeClass":
        restoreAttribute(element, copy, "class");
        return true;
      case "setStyle":
        restoreAttribute(element, copy, "style");
        return true;
      default:
        return false;
    }
  };
  const isRoot = (element: PageElement) => ["html", "head", "body"].includes(dom.localName(element));

  const disturb = (): boolean => {
    if (change.op === "remove") return way === "restore" && originals.map(putBack).includes(true);
    if (change.op === "insert" && way === "restore") {
      const inserted = watch.verifier.touched(kit, change);
      for (const element of inserted) dom.remove(element);
      return inserted.length > 0;
    }
    const disturbed = originals.map((original) => {
      const element = findElement(original);
      if (!element) return false;
      if (way === "restore") return restore(element, original);
      if (isRoot(element)) return false;
      dom.replaceWith(element, build(original.copy));
      return true;
    });
    return disturbed.includes(true);
  };

  // The test of an earlier change may have removed or replaced the elements of this change. This change is then not
  // tested.
  const before = watch.verifier.verify(kit, change, false);
  const copies = watch.verifier.copies(kit, change);
  if ((!before.isApplied && before.matched > 0) || !disturb()) return untouched;
  await watch.untilApplied([id], maxMs);
  const { isApplied } = watch.verifier.verify(watch.newKit(), change, false);
  return { isDisturbed: true, isApplied, isRepeated: watch.verifier.copies(watch.newKit(), change) > copies };
}
