/**
 * Selector engines for Playwright. They run in Playwright's isolated world, which the page's scripts cannot reach.
 */
import type { PageElement } from "#lib/dom/make-dom.ts";
import { dom } from "../dom.ts";
import { createPageKit } from "../page-kit/page-kit.ts";
import { explainElement } from "./explain-element.ts";

/**
 * Creates the engine for the selector `explain=1`. Applied to an element, it returns a new, detached element whose text
 * is the result of `explainElement`.
 */
export function createExplainEngine() {
  const explain = (root: PageElement) => {
    const result = dom.createElement(document, "div");
    result.textContent = explainElement(createPageKit({ prefix: "", next: 0 }), root);
    return result;
  };
  return { query: explain, queryAll: (root: PageElement) => [explain(root)] };
}

/**
 * Creates the engine for selectors such as `ref=e7`. The service stores the elements in a global variable of Playwright's
 * world, see `installRef` in `lib/tools/browser/script/relay/relay-refs.ts`.
 */
export function createRefEngine() {
  const find = (ref: string): PageElement[] => {
    const { agentSessionRefs } = globalThis as { agentSessionRefs?: Map<string, PageElement> };
    const element = agentSessionRefs?.get(ref);
    // Throws, so that Playwright does not wait: a ref identifies one element, and a removed element does not come back.
    if (!element || !dom.isConnected(element))
      throw new Error(`the element of ref ${ref} is not in the page`);
    return [element];
  };
  return {
    query: (_root: unknown, ref: string) => find(ref)[0],
    queryAll: (_root: unknown, ref: string) => find(ref),
  };
}
