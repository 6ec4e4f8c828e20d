import { eq, sql } from "drizzle-orm";
import type { Executor } from "#db/client.ts";
import { browsers, sessions } from "#db/schema/index.ts";

/** The URL that a session selects until a client selects another: its target, or else its first target page. */
export const initialUrlOf = ({
  targetUrl,
  targetPageUrls,
}: Pick<typeof sessions.$inferSelect, "targetUrl" | "targetPageUrls">): string | null =>
  targetUrl ?? targetPageUrls[0] ?? null;

/**
 * SQL: the URL of the page that a session selects, in a query of `sessions`; null if it selects none. It is that of the
 * last retarget, otherwise that of {@link initialUrlOf}. It does not depend on whether a browser runs.
 * Source: specification, `POST …/browser`, rule 1.
 */
export const selectedUrl = sql<string | null>`coalesce(
  (select selected.desired_url from ${browsers} selected where selected.session_id = ${sessions.id}),
  ${sessions.targetUrl}, ${sessions.targetPageUrls} ->> 0)`;

/** Finds the URL of the page that a session selects; null if it selects none, or if there is no such session. */
export async function findSelectedUrl(db: Executor, sessionId: string): Promise<string | null> {
  const [row] = await db.select({ url: selectedUrl }).from(sessions).where(eq(sessions.id, sessionId));
  return row?.url ?? null;
}
