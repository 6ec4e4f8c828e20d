import type { Dom, PageElement, PageNode } from "#lib/dom/make-dom.ts";
import type { CompiledNode } from "../runtime/runtime-types.ts";

/** Searches nodes of a page for the compiled nodes of a change's HTML. */
type NodeMatcher = {
  /**
   * Finds the nodes in `actual` that match the `expected` nodes, in the same order. Other nodes may be between them.
   * Undefined if an expected node is missing.
   */
  findRun: (expected: CompiledNode[], actual: PageNode[]) => PageNode[] | undefined;
  /**
   * Finds all matches of `expected` in `actual`, one after the other. No node belongs to two matches.
   *
   * @param mayBeShared whether elements that another change affects may match whatever they contain. Default true.
   */
  findRuns: (expected: CompiledNode[], actual: PageNode[], mayBeShared?: boolean) => PageNode[][];
};

/**
 * How strictly nodes are matched. `exact`: texts are equal. `merged`: texts outside of the expected elements contain the
 * expected text, because the page may have merged them with its own. `shared`: in addition, an element that another
 * change affects always matches.
 */
type Mode = "exact" | "merged" | "shared";

/**
 * Creates a {@link NodeMatcher}. An element matches even if scripts of the page have added attributes, classes or
 * children to it.
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
  const isEqualText = (expected: string, actual: string, mode: Mode) =>
    mode === "exact" ? actual === expected : actual.includes(expected);
  const isMatch = (expected: CompiledNode, actual: PageNode, mode: Mode): boolean => {
    if (typeof expected === "string")
      return actual instanceof Text && isEqualText(collapse(expected), collapse(actual.data), mode);
    const [tag, attributes, children] = expected;
    if (!dom.isElement(actual) || dom.localName(actual).toLowerCase() !== tag.toLowerCase()) return false;
    if (mode === "shared" && isShared(actual)) return true;
    return (
      Object.entries(attributes).every(([name, value]) => hasAttribute(actual, name, value)) &&
      findNodes(children, dom.childNodes(actual), mode === "merged" ? "exact" : mode) !== undefined
    );
  };
  const findNodes = (expected: CompiledNode[], actual: PageNode[], mode: Mode): PageNode[] | undefined => {
    const run: PageNode[] = [];
    let at = 0;
    for (const each of expected) {
      if (typeof each === "string" && collapse(each) === "") continue;
      const index = actual.findIndex((node, place) => place >= at && isMatch(each, node, mode));
      const found = actual[index];
      if (!found) return undefined;
      run.push(found);
      // The page may have merged neighbouring texts, so the same text node is tried for the next text as well.
      at = found instanceof Text ? index : index + 1;
    }
    return run;
  };
  const findRun: NodeMatcher["findRun"] = (expected, actual) =>
    findNodes(expected, actual, "exact") ??
    findNodes(expected, actual, "merged") ??
    findNodes(expected, actual, "shared");
  return {
    findRun,
    findRuns(expected, actual, mayBeShared = true) {
      const runs: PageNode[][] = [];
      // An element of the page may look like the HTML and have further text. It counts only if there is no exact match.
      const mode: Mode = findNodes(expected, actual, "exact") ? "exact" : "merged";
      for (let rest = actual; ; ) {
        const isLenient = mayBeShared && runs.length === 0;
        const run = findNodes(expected, rest, mode) ?? (isLenient ? findRun(expected, rest) : undefined);
        const last = run?.at(-1);
        if (!run || !last) return runs;
        runs.push(run);
        rest = rest.slice(rest.indexOf(last) + 1);
      }
    },
  };
}
