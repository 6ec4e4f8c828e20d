import { createRunningChange, type RunningChange } from "./running-change.ts";
import type { CompiledPage } from "./runtime-types.ts";

/** A page entry that matches the current address, with its running changes. */
export type RunningPage = {
  page: CompiledPage;
  changes: RunningChange[];
  /** Adds the style sheet again to each root whose list of style sheets the page has replaced. */
  adoptSheet: () => void;
  stop: () => void;
};

/**
 * Makes the style sheet of a page entry. It works even on pages with a strict Content-Security-Policy or Trusted Types.
 * Shadow roots that contain changes need it too, because the sheet of the document does not apply inside them.
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

/** Starts a page entry: its style sheet applies at once, its changes when they are reconciled. */
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
