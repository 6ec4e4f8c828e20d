import type { Dom, PageElement, PageNode } from "#lib/dom/make-dom.ts";
import type { CompiledNode } from "../../runtime/runtime-types.ts";

/** Searches nodes of a page for the compiled nodes of a change's HTML. */
export type NodeMatcher = {
  /**
   * Finds the nodes in `actual` that match the `expected` nodes, in the same order. Other nodes may be between them.
   * Undefined if an expected node is missing.
   */
  findRun: (expected: CompiledNode[], actual: PageNode[]) => PageNode[] | undefined;
  /** Finds all matches of `expected` in `actual`, one after the other. No node belongs to two matches. */
  findRuns: (expected: CompiledNode[], actual: PageNode[]) => PageNode[][];
};

/**
 * Creates a {@link NodeMatcher}. An element matches even if scripts of the page have added attributes, classes or
 * children to it. The source of this function is sent to the page and runs there, so the function uses nothing from
 * outside its own body.
 *
 * @param isShared whether another change affects the element too. The element's attributes and content may then differ
 * from the HTML.
 */
export function makeNodeMatcher(dom: Dom, isShared: (element: PageElement) => boolean): NodeMatcher {
  const collapse = (text: string) => text.replace(/\s+/g, " ").trim();
  const hasStyle = (element: PageElement, expected: string): boolean => {
    const probe = dom.createElement(document, "div");
    probe.style.cssText = expected;
    const actual = dom.style(element);
    return [...probe.style].every(
      (name) => actual?.getPropertyValue(name) === probe.style.getPropertyValue(name),
    );
  };
  const hasAttribute = (element: PageElement, name: string, value: string): boolean => {
    const actual = dom.getAttribute(element, name);
    if (actual === null) return value.trim() === "" && (name === "class" || name === "style");
    if (name === "class")
      return value.split(/\s+/).every((each) => each === "" || dom.classList(element).contains(each));
    return name === "style" ? hasStyle(element, value) : actual === value;
  };
  const isMatch = (expected: CompiledNode, actual: PageNode, isLenient: boolean): boolean => {
    if (typeof expected === "string")
      return actual instanceof Text && collapse(actual.data).includes(collapse(expected));
    const [tag, attributes, children] = expected;
    if (!dom.isElement(actual) || dom.localName(actual).toLowerCase() !== tag.toLowerCase()) return false;
    if (isLenient && isShared(actual)) return true;
    return (
      Object.entries(attributes).every(([name, value]) => hasAttribute(actual, name, value)) &&
      findNodes(children, dom.childNodes(actual), isLenient) !== undefined
    );
  };
  const findNodes = (
    expected: CompiledNode[],
    actual: PageNode[],
    isLenient: boolean,
  ): PageNode[] | undefined => {
    const run: PageNode[] = [];
    let at = 0;
    for (const each of expected) {
      if (typeof each === "string" && collapse(each) === "") continue;
      const index = actual.findIndex((node, place) => place >= at && isMatch(each, node, isLenient));
      const found = actual[index];
      if (!found) return undefined;
      run.push(found);
      // The page may have merged neighbouring texts, so the same text node is tried for the next text as well.
      at = found instanceof Text ? index : index + 1;
    }
    return run;
  };
  const findRun: NodeMatcher["findRun"] = (expected, actual) =>
    findNodes(expected, actual, false) ?? findNodes(expected, actual, true);
  return {
    findRun,
    findRuns(expected, actual) {
      const runs: PageNode[][] = [];
      for (let rest = actual; ; ) {
        const run = runs.length === 0 ? findRun(expected, rest) : findNodes(expected, rest, false);
        const last = run?.at(-1);
        if (!run || !last) return runs;
        runs.push(run);
        rest = rest.slice(rest.indexOf(last) + 1);
      }
    },
  };
}
