import type { FreshContext } from "#lib/browser/page/open-fresh-context.ts";

/**
 * Counts the dialogs, tabs and file choosers that a page opens. None of them stays open.
 *
 * @returns reads their number so far.
 */
export function followWindows({ page, guard }: FreshContext): () => number {
  let count = 0;
  const add = guard(() => {
    count += 1;
  });
  page.on("dialog", add);
  page.on("popup", add);
  // With a listener, the browser opens no chooser.
  page.on("filechooser", add);
  return () => count;
}
