import type { Executor } from "#db/client.ts";
import type { LandingPage } from "#lib/events/event.ts";
import { toLandingPage } from "#lib/publication/landing/landing-page.ts";
import { listPagesOf } from "#lib/publication/landing/page-store.ts";
import type { SessionRow } from "#lib/session/session-store.ts";

/** The pages whose newest version was deployed by this session, oldest page first. */
export const listSessionPages = async (
  db: Executor,
  sessionId: string,
  pagesOrigin: string,
): Promise<LandingPage[]> =>
  (await listPagesOf(db, sessionId)).map((found) => toLandingPage(pagesOrigin, found));

/**
 * Reads the pages that belong to the outcome of a session's turns. An editing session always has the list, even if it is
 * empty; a structured session has it if there are pages. Undefined in all other cases, and for sub-agents. Only sessions
 * with `deploy_landing_page` have pages, so for others the database is not queried. Source: `wire.md`, Landing pages.
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
