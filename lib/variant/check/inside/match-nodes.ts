import type { CompiledNode } from "../../runtime/runtime-types.ts";

/** Searches nodes of a page for the compiled nodes of a change's HTML. */
export type NodeMatcher = {
  /**
   * Finds the nodes in `actual` that match the `expected` nodes, in the same order. Other nodes may be between them.
   * Undefined if an expected node is missing.
   */
  findRun: (expected: CompiledNode[], actual: Node[]) => Node[] | undefined;
  /** Finds all matches of `expected` in `actual`, one after the other. No node belongs to two matches. */
  findRuns: (expected: CompiledNode[], actual: Node[]) => Node[][];
};

/**
 * Creates a {@link NodeMatcher}. An element matches even if scripts of the page have added attributes, classes or
 * children to it. The source of this function is sent to the page and runs there, so the function uses nothing from
 * outside its own body.
 *
 * @param isShared whether another change affects the element too. The element's attributes and content may then differ
 * from the HTML.
 */
export function makeNodeMatcher(isShared: (element: Element) => boolean): NodeMatcher {
  const collapse = (text: string) => text.replace(/\s+/g, " ").trim();
  const hasStyle = (element: Element, expected: string): boolean => {
    const probe = document.createElement("div");
    probe.style.cssText = expected;
    const actual = (element as HTMLElement).style;
    return [...probe.style].every(
      (name) => actual.getPropertyValue(name) === probe.style.getPropertyValue(name),
    );
  };
  const hasAttribute = (element: Element, name: string, value: string): boolean => {
    const actual = element.getAttribute(name);
    if (actual === null) return value.trim() === "" && (name === "class" || name === "style");
    if (name === "class")
      return value.split(/\s+/).every((each) => each === "" || element.classList.contains(each));
    return name === "style" ? hasStyle(element, value) : actual === value;
  };
  const isMatch = (expected: CompiledNode, actual: Node, isLenient: boolean): boolean => {
    if (typeof expected === "string")
      return actual instanceof Text && collapse(actual.data).includes(collapse(expected));
    const [tag, attributes, children] = expected;
    if (!(actual instanceof Element) || actual.localName.toLowerCase() !== tag.toLowerCase()) return false;
    if (isLenient && isShared(actual)) return true;
    return (
      Object.entries(attributes).every(([name, value]) => hasAttribute(actual, name, value)) &&
      findNodes(children, [...actual.childNodes], isLenient) !== undefined
    );
  };
  const findNodes = (expected: CompiledNode[], actual: Node[], isLenient: boolean): Node[] | undefined => {
    const run: Node[] = [];
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
      const runs: Node[][] = [];
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
