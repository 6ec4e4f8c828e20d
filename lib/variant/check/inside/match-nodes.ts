import type { CompiledNode } from "../../runtime/runtime-types.ts";

/** Compares nodes of a page with the nodes of a change's HTML. */
export type NodeMatcher = {
  /** The page's nodes that match `expected`, in order; other nodes may be between them. Undefined if one is missing. */
  findRun: (expected: CompiledNode[], actual: Node[]) => Node[] | undefined;
  /** All successive runs that share no node. */
  findRuns: (expected: CompiledNode[], actual: Node[]) => Node[][];
};

/**
 * Makes a {@link NodeMatcher}. It accepts additions of the page (attributes, classes, further children), because scripts of
 * the page decorate elements. Runs inside the page, sent as source: it uses nothing from outside its own body.
 * @param isShared whether another change works on this element too, so that its content may differ.
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
      // Neighbouring texts may have become one node.
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
