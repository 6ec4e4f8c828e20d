import { and, asc, eq, gt, inArray, sql } from "drizzle-orm";
import type { Executor, Transaction } from "#db/client.ts";
import { events, sessions } from "#db/schema/index.ts";
import type { EventKind, NewEvent, StoredEvent } from "./event.ts";

/**
 * Numbers and writes events of one session. The last thing a transaction does: the session's counter stays locked
 * until the commit.
 *
 * @throws when the session is gone.
 */
export async function appendEvents(
  tx: Transaction,
  sessionId: string,
  news: NewEvent[],
): Promise<StoredEvent[]> {
  const [counter] = await tx
    .update(sessions)
    .set({ eventSeq: sql`${sessions.eventSeq} + ${news.length}` })
    .where(eq(sessions.id, sessionId))
    .returning({ last: sessions.eventSeq });
  if (!counter) throw new Error(`no session ${sessionId} to append events to`);
  const timestamp = new Date().toISOString();
  const stored = news.map(({ kind, requestId, runId, source, ...fields }, index): StoredEvent => {
    const seq = counter.last - news.length + index + 1;
    const body = JSON.stringify({ kind, seq, timestamp, sessionId, requestId, runId, source, ...fields });
    return { sessionId, seq, kind, requestId, runId, body };
  });
  await tx.insert(events).values(stored);
  return stored;
}

/** Stored events after a sequence number, in order. */
export async function readEvents(
  db: Executor,
  sessionId: string,
  query: { after: number; requestId?: string; limit: number },
): Promise<StoredEvent[]> {
  const rows = await db
    .select({
      sessionId: events.sessionId,
      seq: events.seq,
      kind: events.kind,
      requestId: events.requestId,
      runId: events.runId,
      body: events.body,
    })
    .from(events)
    .where(
      and(
        eq(events.sessionId, sessionId),
        gt(events.seq, query.after),
        query.requestId === undefined ? undefined : eq(events.requestId, query.requestId),
      ),
    )
    .orderBy(asc(events.seq))
    .limit(query.limit);
  // The column is text so that a kind can be added without a migration; only appendEvents writes it.
  return rows.map((row) => ({ ...row, kind: row.kind as EventKind }));
}

/** The number of the newest event of each of these sessions. */
export async function listNewestSeqs(
  db: Executor,
  sessionIds: string[],
): Promise<{ sessionId: string; seq: number }[]> {
  return db
    .select({ sessionId: sessions.id, seq: sessions.eventSeq })
    .from(sessions)
    .where(inArray(sessions.id, sessionIds));
}
