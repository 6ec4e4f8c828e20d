import { makeDom } from "#lib/dom/make-dom.ts";
import type { ScriptTag } from "./check-context.ts";

/** How long a visitor's browser takes to load the script, in milliseconds, on a connection of medium speed. */
const LATENCY_MS = 150;

/**
 * Returns the source of a script that runs at the start of a document and there runs the variant's script at the time
 * at which the published tag in the head would run it. With `async`, this is some time after the parser has reached the
 * head, when the page may have painted already. The tag itself is not added to the page: its content policy may not
 * allow the service's origin yet, which the check reports separately.
 */
export function loadScript(script: string, tag: ScriptTag): string {
  if (tag === "blocking") return script;
  return `if (window === window.top) {
    const run = () => {
      ${script}
    };
    const later = setTimeout.bind(window, run, ${LATENCY_MS});
    const dom = (${makeDom})();
    const isReached = () => dom.head(document) !== null || dom.body(document) !== null;
    if (isReached()) later();
    else {
      const observer = new MutationObserver(() => {
        if (!isReached()) return;
        observer.disconnect();
        later();
      });
      observer.observe(document, { childList: true, subtree: true });
    }
  }`;
}
