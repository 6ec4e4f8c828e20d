import { and, asc, desc, eq, isNull, or, sql } from "drizzle-orm";
import type { Executor } from "#db/client.ts";
import { sessions } from "#db/schema/index.ts";
import { type SessionRow, sessionColumns } from "../store/session-store.ts";

/** A position in the list of sessions, which is sorted by creation time, newest first. */
export type ListPosition = { createdAt: Date; id: string };

type Search = {
  /** Each word must occur in the title, the task or the target URL. Case is ignored. */
  words: string[];
  /** Only sessions that are older than this position are examined. */
  before?: ListPosition | undefined;
  /** Number of sessions that are examined at most, newest first. It bounds the cost of a search. */
  window: number;
  /** Number of sessions that are returned at most. */
  limit: number;
};

/**
 * Searches the sessions of an owner, newest first, without sub-agents.
 *
 * @returns the matching sessions, and the last session that was examined if older sessions may exist; `examinedTo` is
 * null if the search has examined all sessions, and also if `limit` ended it.
 */
export async function searchSessions(
  db: Executor,
  ownerId: string,
  { words, before, window, limit }: Search,
): Promise<{ rows: SessionRow[]; examinedTo: ListPosition | null }> {
  const text = sql`lower(concat_ws(E'\\n', ${sessions.title}, ${sessions.task}, ${sessions.targetUrl}))`;
  // `strpos` has no wildcards, so every character of a word stands for itself.
  const matches = words.map((word) => sql`strpos(${text}, lower(${word})) > 0`);
  const examined = db
    .select({
      id: sessions.id,
      isMatch: sql<boolean>`${matches.length === 0 ? sql`true` : sql.join(matches, sql` and `)}`.as(
        "is_match",
      ),
      place: sql<number>`row_number() over (order by ${sessions.createdAt} desc, ${sessions.id} desc)`.as(
        "place",
      ),
    })
    .from(sessions)
    .where(
      and(
        eq(sessions.ownerId, ownerId),
        isNull(sessions.parentSessionId),
        before &&
          sql`(${sessions.createdAt}, ${sessions.id}) < (${before.createdAt.toISOString()}::timestamptz, ${before.id})`,
      ),
    )
    .orderBy(desc(sessions.createdAt), desc(sessions.id))
    .limit(window)
    .as("examined");
  const found = await db
    .select({ session: sessionColumns, isMatch: examined.isMatch, place: examined.place })
    .from(examined)
    .innerJoin(sessions, eq(sessions.id, examined.id))
    .where(or(eq(examined.isMatch, true), eq(examined.place, window)))
    .orderBy(asc(examined.place))
    .limit(limit + 1);
  const end = found.find(({ place }) => Number(place) === window)?.session;
  const rows = found.filter(({ isMatch }) => isMatch).map(({ session }) => session);
  return {
    rows: rows.slice(0, limit),
    examinedTo: end && rows.length <= limit ? { createdAt: end.createdAt, id: end.id } : null,
  };
}
