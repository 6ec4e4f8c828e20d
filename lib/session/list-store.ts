import { and, count, desc, eq, inArray, isNotNull, isNull, lt, or } from "drizzle-orm";
import type { Executor } from "#db/client.ts";
import { requests, runs, sessions } from "#db/schema/index.ts";
import { OPEN_STATES, type RunRow, startedLast } from "./run-store.ts";
import { type SessionRow, sessionColumns } from "./store.ts";

/** Recent sessions of an owner, newest first, after a cursor. Children are listed with their parents. */
export function listSessions(
  db: Executor,
  ownerId: string,
  page: { before?: { createdAt: Date; id: string }; limit: number },
): Promise<SessionRow[]> {
  const { before } = page;
  return db
    .select(sessionColumns)
    .from(sessions)
    .where(
      and(
        eq(sessions.ownerId, ownerId),
        isNull(sessions.parentSessionId),
        before &&
          or(
            lt(sessions.createdAt, before.createdAt),
            and(eq(sessions.createdAt, before.createdAt), lt(sessions.id, before.id)),
          ),
      ),
    )
    .orderBy(desc(sessions.createdAt), desc(sessions.id))
    .limit(page.limit);
}

/** The run of each session that started last, by session id; sessions without one are left out. */
export async function findLastRuns(db: Executor, sessionIds: string[]): Promise<Map<string, RunRow>> {
  if (sessionIds.length === 0) return new Map();
  const rows = await db
    .selectDistinctOn([runs.sessionId], { run: runs })
    .from(runs)
    .innerJoin(requests, eq(requests.id, runs.requestId))
    .where(and(inArray(runs.sessionId, sessionIds), isNotNull(runs.startedAt)))
    .orderBy(runs.sessionId, ...startedLast);
  return new Map(rows.map(({ run }) => [run.sessionId, run]));
}

/** How many runs of each session are open, by session id; sessions without one are left out. */
export async function countOpenRuns(db: Executor, sessionIds: string[]): Promise<Map<string, number>> {
  if (sessionIds.length === 0) return new Map();
  const rows = await db
    .select({ sessionId: runs.sessionId, open: count() })
    .from(runs)
    .where(and(inArray(runs.sessionId, sessionIds), inArray(runs.state, OPEN_STATES)))
    .groupBy(runs.sessionId);
  return new Map(rows.map(({ sessionId, open }) => [sessionId, open]));
}
