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
        const sheets = root.adoptedStyleSheets;
        if (!root.isConnected) roots.delete(root);
        else if (!sheets.includes(sheet)) root.adoptedStyleSheets = [...sheets, sheet];
      }
    },
    remove() {
      for (const root of roots)
        root.adoptedStyleSheets = root.adoptedStyleSheets.filter((each) => each !== sheet);
    },
  };
}

/** Starts a page. Its style sheet applies at once, and its changes apply when their `reconcile` is called. */
export function startPage(page: CompiledPage): RunningPage {
  const { roots, adopt, remove } = createSheet(page.css);
  adopt();
  const onApply = (root: Node) => {
    if (!(root instanceof ShadowRoot) || roots.has(root)) return;
    roots.add(root);
    adopt();
  };
  const changes = page.changes.map((change) => createRunningChange(change, onApply));
  return {
    page,
    changes,
    adoptSheet: adopt,
    stop() {
      for (const change of [...changes].reverse()) change.undo();
      remove();
    },
  };
}
