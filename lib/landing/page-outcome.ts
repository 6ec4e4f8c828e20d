import type { Executor } from "#db/client.ts";
import type { LandingPage } from "#lib/events/event.ts";
import { toLandingPage } from "#lib/publication/landing/landing-page.ts";
import { listPagesOf } from "#lib/publication/landing/page-store.ts";
import type { SessionRow } from "#lib/session/session-store.ts";

/** The pages whose newest deploy is of a session, oldest first. */
export const listSessionPages = async (
  db: Executor,
  sessionId: string,
  pagesOrigin: string,
): Promise<LandingPage[]> =>
  (await listPagesOf(db, sessionId)).map((found) => toLandingPage(pagesOrigin, found));

/**
 * The pages that are the outcome of a session's turns: of an editing session always, of a structured one if it has any.
 * Undefined for other sessions and for sub-agents. Only a session with the tool has pages; others cost no query.
 * Source: `wire.md`, Landing pages.
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
