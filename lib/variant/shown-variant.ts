import type { Executor } from "#db/client.ts";
import type { PageScript } from "#lib/browser/page/page-script.ts";
import { listPublicationIds } from "#lib/publication/publication-store.ts";
import { findRootOf, listTree } from "#lib/session/store/session-tree-store.ts";
import { variantScript } from "./compile/variant-script.ts";
import { revertOthers } from "./variant-in-page.ts";
import { findShownRevision } from "./variant-store.ts";
import type { VariantsDeps } from "./variants-deps.ts";

/**
 * Builds the scripts that make the live browser of a session show the current variant of the root session, or no
 * variant if none is shown. The scripts also disable the session's publications. Otherwise, on a page that loads a
 * published script, the published revision would appear together with the shown revision, or although no variant is
 * shown.
 */
export async function readPageScript(db: Executor, sessionId: string): Promise<PageScript> {
  const root = await findRootOf(db, sessionId);
  const revision = await findShownRevision(db, root);
  const published = await listPublicationIds(db, root);
  const inFreshContexts = published.length === 0 ? null : disablePublications(published);
  const before = inFreshContexts === null ? "" : `${inFreshContexts}\n`;
  if (!revision)
    return { onDocumentStart: inFreshContexts, inFreshContexts, immediate: `${before}${revertOthers(null)}` };
  const script = variantScript(revision.document, revision.variant);
  return {
    onDocumentStart: `${before}${script}`,
    inFreshContexts,
    immediate: `${before}${revertOthers(revision.variant)}\n${script}`,
  };
}

/**
 * Builds a script that disables these publications in the document. It reverts the published scripts that already run,
 * and registers a handle that does nothing for each id. A published script whose id has a handle does not start; it
 * only calls the handle's `update`.
 */
const disablePublications = (
  publicationIds: string[],
): string => `for (const id of ${JSON.stringify(publicationIds)}) {
  const variants = (window.__agentSessionVariants ??= Object.create(null));
  variants[id]?.revert();
  variants[id] = { revert() {}, update() {}, report: () => ({ url: location.href, pages: 0, isHydrating: false, scriptError: null, changes: [] }) };
}`;

/**
 * Makes the live browsers of a root session and its sub-agents show the root session's current variant. Reaches only
 * the browsers of this process.
 */
export const refreshShown = async (
  { db, browser }: Pick<VariantsDeps, "db" | "browser">,
  rootSessionId: string,
): Promise<void> => browser.refreshPageScripts(await listTree(db, rootSessionId));

/**
 * Makes the live browsers of a root session and its sub-agents show the root session's current variant, in all
 * processes.
 */
export async function refreshLiveBrowsers(deps: VariantsDeps, rootSessionId: string): Promise<void> {
  await refreshShown(deps, rootSessionId);
  deps.notifyShown(rootSessionId);
}
