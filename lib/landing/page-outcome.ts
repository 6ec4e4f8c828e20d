import type { Executor } from "#db/client.ts";
import type { LandingPage } from "#lib/events/event.ts";
import { toLandingPage } from "#lib/publication/landing/landing-page.ts";
import { listPagesOf } from "#lib/publication/landing/page-store.ts";
import type { SessionRow } from "#lib/session/store/session-store.ts";

/** Lists the pages that this session was the last to deploy, oldest page first. */
export const listSessionPages = async (
  db: Executor,
  sessionId: string,
  pagesOrigin: string,
): Promise<LandingPage[]> =>
  (await listPagesOf(db, sessionId)).map((found) => toLandingPage(pagesOrigin, found));

/**
 * Reads the pages that the outcome of a turn contains. Returns undefined for a sub-agent. A session with an output
 * schema gets undefined instead of an empty list. If the session's toolset lacks `deploy_landing_page`, the session has
 * no pages, and the database is not queried. Source: `wire.md`, Landing pages.
 */
export async function readPageOutcome(
  db: Executor,
  {
    id,
    parentSessionId,
    outputSchema,
    toolset,
  }: Pick<SessionRow, "id" | "parentSessionId" | "outputSchema" | "toolset">,
  pagesOrigin: string,
): Promise<LandingPage[] | undefined> {
  if (parentSessionId !== null) return undefined;
  const pages = toolset.includes("deploy_landing_page") ? await listSessionPages(db, id, pagesOrigin) : [];
  return outputSchema === null || pages.length > 0 ? pages : undefined;
}
