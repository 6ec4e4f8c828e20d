import type { Executor } from "#db/client.ts";
import type { PageScript } from "#lib/browser/page/page-script.ts";
import { variantScript } from "./compile/variant-script.ts";
import { REVERT_ALL } from "./variant-in-page.ts";
import { findRootOf, findShownRevision, listTree } from "./variant-store.ts";
import type { VariantsDeps } from "./variants-deps.ts";

/** The script of the variant that the live browser of a session shows. Sub-agents show what their root shows. */
export async function readPageScript(db: Executor, sessionId: string): Promise<PageScript> {
  const revision = await findShownRevision(db, await findRootOf(db, sessionId));
  if (!revision) return { onLoad: null, now: REVERT_ALL };
  const script = variantScript(revision.document, revision.variant);
  const others = `for (const [key, handle] of Object.entries(window.__agentSessionVariants ?? {})) if (key !== ${JSON.stringify(revision.variant)}) handle.revert();`;
  return { onLoad: script, now: `${others}\n${script}` };
}

/** Shows the stored variant in the live browsers of a tree that run in this process. */
export const refreshShown = async (
  { db, browser }: Pick<VariantsDeps, "db" | "browser">,
  rootSessionId: string,
): Promise<void> => browser.refreshPageScripts(await listTree(db, rootSessionId));

/** Shows the stored variant in every live browser of a tree, in whichever process it runs. */
export async function showEverywhere(deps: VariantsDeps, rootSessionId: string): Promise<void> {
  await refreshShown(deps, rootSessionId);
  deps.tellShown(rootSessionId);
}
