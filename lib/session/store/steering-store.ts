import { and, asc, eq, getTableColumns, inArray, type SQL, sql } from "drizzle-orm";
import type { Executor, Transaction } from "#db/client.ts";
import { messages, requests, runs } from "#db/schema/index.ts";
import { queryRows } from "#db/statement.ts";

// Not imported from the stores of runs and messages, because those are built on this one.
type RequestRow = typeof requests.$inferSelect;
type RunRow = typeof runs.$inferSelect;
type MessageRow = typeof messages.$inferSelect;

/**
 * SQL condition: `request`, a table or alias of the statement, has no run of its own. A request that joined another
 * request's run has none, unless it has left that run without being read.
 */
const hasNoRun = (request: SQL) =>
  sql`not exists (select 1 from ${runs} as steer_run where steer_run.request_id = ${request}.id)`;

/** SQL condition: `request`, a table or alias of the statement, has messages that are not in the transcript yet. */
export const hasWaitingMessages = (request: SQL) =>
  sql`exists (
    select 1 from ${messages} as steer_message
    where steer_message.request_id = ${request}.id and steer_message.seq is null
  )`;

const steer = sql.raw("steer");
const isUnread = sql`${hasNoRun(steer)} and ${hasWaitingMessages(steer)}`;

/**
 * SQL `from` and `where` clauses that select the unread steers of a request, with the alias `steer`. A steer is a
 * request that joined a run of another request. It is unread until its messages are in the transcript.
 */
const unreadOf = (requestId: SQL) => sql`
  ${runs} as joined_run join ${requests} as steer on steer.joined_run_id = joined_run.id
  where joined_run.request_id = ${requestId} and ${isUnread}`;

/**
 * SQL condition: an unread steer has joined a run of the request. Do not use it in the statement that takes the
 * session's lock: a statement sees only what was committed when it began, not what was committed while it waited for
 * the lock.
 *
 * @param requestId SQL for the request's id: a parameter or a column of the statement.
 */
export const unreadSteers = (requestId: SQL): SQL<boolean> =>
  sql`exists (select 1 from ${unreadOf(requestId)})`;

/** Whether an unread steer has joined a run of this request. */
export async function hasUnreadSteers(db: Executor, requestId: string): Promise<boolean> {
  const rows = await queryRows<{ unread: boolean }>(
    db,
    sql`select ${unreadSteers(sql`${requestId}`)} as unread`,
  );
  return rows[0]?.unread ?? false;
}

/**
 * Locks the unread steers of a request's turn until the transaction ends, in order of arrival. The next statement must
 * check again whether they are unread, because another transaction may have read them before the locks were granted.
 *
 * @returns the ids of the locked steers.
 */
export async function lockUnreadSteers(tx: Transaction, requestId: string): Promise<string[]> {
  const rows = await queryRows<{ id: string }>(
    tx,
    sql`select steer.id from ${unreadOf(sql`${requestId}`)} order by steer.position for update of steer`,
  );
  return rows.map(({ id }) => id);
}

/** Lists the unread steers of a request's turn, in order of arrival. */
export async function listUnreadSteers(
  tx: Transaction,
  requestId: string,
): Promise<Pick<RequestRow, "id" | "origin">[]> {
  const rows = await queryRows<Pick<RequestRow, "id" | "origin">>(
    tx,
    sql`select steer.id, steer.origin from ${unreadOf(sql`${requestId}`)} order by steer.position`,
  );
  return rows;
}

/**
 * Adds the messages of locked steers to the transcript, in order of arrival, starting at `messageSeq` + 1. Skips steers
 * that another transaction read or withdrew before the lock was granted.
 *
 * @returns the messages in order.
 */
export async function insertSteers(
  tx: Transaction,
  requestIds: string[],
  messageSeq: number,
): Promise<MessageRow[]> {
  const placed = tx
    .select({
      id: messages.id,
      place:
        sql<number>`${messageSeq}::int + row_number() over (order by ${requests.position}, ${messages.index})`.as(
          "place",
        ),
    })
    .from(messages)
    .innerJoin(requests, eq(requests.id, messages.requestId))
    .where(and(inArray(requests.id, requestIds), sql`${messages.seq} is null`, hasNoRun(sql`${requests}`)))
    .as("placed");
  const rows = await tx
    .update(messages)
    .set({ seq: sql`${placed.place}` })
    .from(placed)
    // If a message is being edited concurrently, this statement waits for the edit and returns the new text.
    .where(eq(messages.id, placed.id))
    .returning(getTableColumns(messages));
  return rows.toSorted((one, other) => (one.seq ?? 0) - (other.seq ?? 0));
}

/**
 * Inserts a first run for each request that had joined another request's run. Skips a request that already has a run.
 *
 * @returns the inserted runs, in the given order.
 */
export async function insertOwnRuns(
  tx: Transaction,
  newRuns: (typeof runs.$inferInsert)[],
): Promise<RunRow[]> {
  if (newRuns.length === 0) return [];
  const written = await tx.insert(runs).values(newRuns).onConflictDoNothing().returning();
  return newRuns.flatMap(({ id }) => written.find((run) => run.id === id) ?? []);
}

/**
 * Locks a steer, if no other transaction has locked it.
 *
 * @returns the steer; undefined if another transaction holds its lock, or if the session has no unread steer with this
 * id.
 */
export async function lockUnreadSteer(
  tx: Transaction,
  sessionId: string,
  requestId: string,
): Promise<RequestRow | undefined> {
  const locked = await tx
    .select({ id: requests.id })
    .from(requests)
    .where(and(eq(requests.id, requestId), eq(requests.sessionId, sessionId)))
    .for("update", { skipLocked: true });
  if (locked.length === 0) return undefined;
  // Only a separate statement sees everything that was committed before the lock was granted.
  const [row] = await tx
    .select()
    .from(requests)
    .where(
      and(
        eq(requests.id, requestId),
        sql`${requests.joinedRunId} is not null`,
        hasNoRun(sql`${requests}`),
        hasWaitingMessages(sql`${requests}`),
      ),
    );
  return row;
}

/** SQL for the number of unread steers of a session. */
export const countUnreadSteers = (sessionId: SQL): SQL<number> => sql`(
  select count(*)::int from ${requests} as steer where steer.joined_run_id is not null and ${hasNoRun(steer)}
  and steer.id in (
    select request_id from ${messages} as waiting where waiting.session_id = ${sessionId} and waiting.seq is null
  )
)`;

/** Lists the ids of a session's requests that a turn has read as steers, in order of arrival. */
export async function listReadSteers(db: Executor, sessionId: string): Promise<string[]> {
  const rows = await db
    .select({ id: requests.id })
    .from(requests)
    .where(
      and(
        eq(requests.sessionId, sessionId),
        sql`${requests.joinedRunId} is not null`,
        hasNoRun(sql`${requests}`),
        sql`not ${hasWaitingMessages(sql`${requests}`)}`,
      ),
    )
    .orderBy(asc(requests.position));
  return rows.map(({ id }) => id);
}
