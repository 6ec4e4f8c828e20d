/**
 * Selector engines for Playwright. They run in Playwright's isolated world, which the page's scripts cannot reach.
 */
import type { PageElement } from "#lib/dom/make-dom.ts";
import { dom } from "../dom.ts";
import { createPageKit } from "../page-kit/page-kit.ts";
import { explainDialog, explainElement, explainModal } from "./explain-element.ts";

const EXPLANATIONS = { all: explainElement, dialog: explainDialog, modal: explainModal };

/**
 * Creates the engine for the selectors `explain=all`, `explain=dialog` and `explain=modal`. Applied to an element, it
 * returns a new, detached element whose text is the explanation.
 */
export function createExplainEngine() {
  const explain = (root: PageElement, what: keyof typeof EXPLANATIONS) => {
    const result = dom.createElement(document, "div");
    result.textContent = EXPLANATIONS[what](createPageKit({ prefix: "", next: 0 }), root);
    return result;
  };
  return {
    query: explain,
    queryAll: (root: PageElement, what: keyof typeof EXPLANATIONS) => [explain(root, what)],
  };
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
