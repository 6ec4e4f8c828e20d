import type { Executor } from "#db/client.ts";
import type { LandingPage } from "#lib/events/event.ts";
import { toLandingPage } from "#lib/publication/landing/landing-page.ts";
import { listPagesOf } from "#lib/publication/landing/page-store.ts";

/** Lists the pages that this session was the last to deploy, oldest page first. */
export const listSessionPages = async (
  db: Executor,
  sessionId: string,
  pagesOrigin: string,
): Promise<LandingPage[]> =>
  (await listPagesOf(db, sessionId)).map((found) => toLandingPage(pagesOrigin, found));
