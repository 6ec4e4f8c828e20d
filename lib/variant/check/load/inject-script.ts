import { makeDom } from "#lib/dom/make-dom.ts";
import type { CheckContext } from "./check-context.ts";

/**
 * Returns the source of a script that runs at the start of a document. If the document has no tag for the published
 * script, or the browser refuses the tag's script, this script runs the variant's script at the time at which the tag
 * would run it: with `async`, `latencyMs` after the parser has reached the head, when the page may have painted already.
 */
export function injectScript({ script, tag, tagUrl }: CheckContext, latencyMs: number): string {
  return `if (window === window.top) {
    const run = () => {
      ${script}
    };
    const later = setTimeout.bind(window);
    const dom = (${makeDom})();
    const isTag = (node) => dom.isElement(node) && dom.localName(node) === "script" && dom.getAttribute(node, "src") === ${JSON.stringify(tagUrl)};
    const leading = ["meta", "base", "title"];
    let isDecided = false;
    const stop = () => {
      isDecided = true;
      observer.disconnect();
    };
    const look = () => {
      if (isDecided) return;
      const head = dom.head(document);
      const nodes = head === null ? [] : [...dom.childNodes(head)];
      if (nodes.some(isTag)) return stop();
      const isPast = dom.body(document) !== null || nodes.some((node) => dom.isElement(node) && !leading.includes(dom.localName(node)));
      if (!isPast) return;
      stop();
      ${tag === "blocking" ? "run();" : `later(run, ${latencyMs});`}
    };
    const observer = new MutationObserver(look);
    observer.observe(document, { childList: true, subtree: true });
    dom.addEventListener(document, "readystatechange", look);
    dom.addEventListener(document, "error", ({ target }) => { if (target !== window && isTag(target)) run(); }, true);
    look();
  }`;
}
