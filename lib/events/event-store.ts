import { and, asc, eq, gt, inArray, sql } from "drizzle-orm";
import type { Executor, Transaction } from "#db/client.ts";
import { events, sessions } from "#db/schema/index.ts";
import { queryRows } from "#db/statement.ts";
import { draftEvents, numberEvents } from "./draft-event.ts";
import type { EventKind, NewEvent, StoredEvent } from "./event.ts";

/**
 * Assigns sequence numbers to events of one session and stores the events. Call it last in a transaction, because the
 * session's counter stays locked until the commit.
 *
 * @throws when the session does not exist.
 */
export async function appendEvents(
  tx: Transaction,
  sessionId: string,
  newEvents: NewEvent[],
): Promise<StoredEvent[]> {
  const drafts = draftEvents(sessionId, newEvents);
  const rows = drafts.map(
    ({ kind, requestId, runId, head, tail }, index) =>
      sql`(${index - drafts.length + 1}::int, ${kind}, ${requestId}::text, ${runId}::text, ${head}, ${tail})`,
  );
  // One statement increases the session's counter, inserts the numbers into the serialized events, and stores the
  // events.
  const counted = await queryRows<{ seq: number | string }>(
    tx,
    sql`
    with counter as (
      update ${sessions} set event_seq = event_seq + ${drafts.length} where id = ${sessionId} returning event_seq
    )
    insert into ${events} (session_id, seq, kind, request_id, run_id, body)
    select ${sessionId}, event_seq + draft.place, draft.kind, draft.request_id, draft.run_id,
      draft.head || (event_seq + draft.place) || draft.tail
    from counter, (values ${sql.join(rows, sql`, `)}) as draft (place, kind, request_id, run_id, head, tail)
    returning seq
  `,
  );
  if (counted.length !== drafts.length) throw new Error(`no session ${sessionId} to append events to`);
  const last = Math.max(...counted.map((row) => Number(row.seq)));
  return numberEvents(sessionId, drafts, last);
}

/** Reads stored events after a sequence number, in order of their numbers. */
export async function readEvents(
  db: Executor,
  sessionId: string,
  query: { after: number; requestId?: string | readonly string[]; limit: number },
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
        query.requestId === undefined ? undefined : inArray(events.requestId, [query.requestId].flat()),
      ),
    )
    .orderBy(asc(events.seq))
    .limit(query.limit);
  // The cast is safe because only `appendEvents` writes the column `kind`. It is a text column, so that a new kind
  // needs no migration.
  return rows.map((row) => ({ ...row, kind: row.kind as EventKind }));
}

/** Reads the sequence number of the newest event of each session. */
export async function listNewestSeqs(
  db: Executor,
  sessionIds: string[],
): Promise<{ sessionId: string; seq: number }[]> {
  return db
    .select({ sessionId: sessions.id, seq: sessions.eventSeq })
    .from(sessions)
    .where(inArray(sessions.id, sessionIds));
}
