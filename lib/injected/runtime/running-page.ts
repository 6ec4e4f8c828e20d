import type { PageNode } from "../../dom/make-dom.ts";
import { dom } from "./dom.ts";
import { includes, map, reverse, without } from "./lists.ts";
import { createRunningChange, type RunningChange } from "./running-change.ts";
import type { CompiledPage } from "./runtime-types.ts";

/** A page of a variant whose address pattern matches the current address, with its running changes. */
export type RunningPage = {
  page: CompiledPage;
  changes: RunningChange[];
  /** Adds the page's style sheet again to the document and to shadow roots, if code of the site has removed it. */
  adoptSheet: () => void;
  stop: () => void;
};

/**
 * Creates the style sheet of a page. A constructed style sheet works even with a strict Content-Security-Policy or
 * Trusted Types. It is also added to the shadow roots that contain changes, because the style sheets of the document do
 * not apply there.
 */
function createSheet(css: string) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  const roots = new Set<Document | ShadowRoot>([document]);
  return {
    roots,
    adopt() {
      for (const root of roots) {
        const sheets = dom.adoptedStyleSheets(root);
        if (!dom.isConnected(root)) roots.delete(root);
        else if (!includes([...sheets], sheet)) dom.setAdoptedStyleSheets(root, [...sheets, sheet]);
      }
    },
    remove() {
      for (const root of roots)
        dom.setAdoptedStyleSheets(root, without([...dom.adoptedStyleSheets(root)], sheet));
    },
  };
}

/** Starts a page. Its style sheet applies at once, and its changes apply when their `reconcile` is called. */
export function startPage(page: CompiledPage): RunningPage {
  const { roots, adopt, remove } = createSheet(page.css);
  adopt();
  const onApply = (root: PageNode) => {
    if (!(root instanceof ShadowRoot) || roots.has(root)) return;
    roots.add(root);
    adopt();
  };
  const changes = map(page.changes, (change) => createRunningChange(change, onApply, page.when));
  return {
    page,
    changes,
    adoptSheet: adopt,
    stop() {
      for (const change of reverse(changes)) change.undo();
      remove();
    },
  };
}
