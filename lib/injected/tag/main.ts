/** Runs in the page's own JavaScript world, at the start of a document. */
import type { PageNode } from "#lib/dom/make-dom.ts";
import { dom } from "../dom.ts";

/** When the variant's script is to run. Without `isBlocking`, it runs `latencyMs` after the tag would be parsed. */
export type TagTime = { tagUrl: string; isBlocking: boolean; latencyMs: number };

/**
 * Calls `run` at the time at which the tag of the published script would run it, if the document has no such tag, or the
 * browser refuses the tag's script.
 */
export function runAtTag(run: () => void, { tagUrl, isBlocking, latencyMs }: TagTime): void {
  if (window !== window.top) return;
  const later = setTimeout.bind(window);
  const isTag = (node: PageNode) =>
    dom.isElement(node) && dom.localName(node) === "script" && dom.getAttribute(node, "src") === tagUrl;
  const leading = ["meta", "base", "title"];
  let isDecided = false;
  const stop = () => {
    isDecided = true;
    observer.disconnect();
  };
  const look = () => {
    if (isDecided) return;
    const head = dom.head(document);
    const nodes = head === null ? [] : dom.childNodes(head);
    if (nodes.some(isTag)) return stop();
    const isPast =
      dom.body(document) !== null ||
      nodes.some((node) => dom.isElement(node) && !leading.includes(dom.localName(node)));
    if (!isPast) return;
    stop();
    if (isBlocking) run();
    else later(run, latencyMs);
  };
  const observer = new MutationObserver(look);
  observer.observe(document, { childList: true, subtree: true });
  dom.addEventListener(document, "readystatechange", look);
  dom.addEventListener(
    document,
    "error",
    ({ target }) => {
      // The cast is safe: only nodes and the window get these events.
      if (target !== window && isTag(target as Node)) run();
    },
    true,
  );
  look();
}
