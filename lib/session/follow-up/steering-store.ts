import { and, asc, eq, getTableColumns, inArray, type SQL, sql } from "drizzle-orm";
import type { Executor, Transaction } from "#db/client.ts";
import { messages, requests, runs } from "#db/schema/index.ts";
import { queryRows } from "#db/statement.ts";
import type { RequestRow, RunRow } from "../run/run-store.ts";
import type { MessageRow } from "../transcript/transcript-store.ts";

/** Whether a request (an alias in the statement at hand) has no run of its own, so that it waits to be read by another's. */
const hasNoRun = (request: SQL) =>
  sql`not exists (select 1 from ${runs} as steer_run where steer_run.request_id = ${request}.id)`;

/** Whether messages of a request still wait outside the transcript. */
export const hasWaitingMessages = (request: SQL) =>
  sql`exists (
    select 1 from ${messages} as steer_message
    where steer_message.request_id = ${request}.id and steer_message.seq is null
  )`;

const steer = sql.raw("steer");
const isUnread = sql`${hasNoRun(steer)} and ${hasWaitingMessages(steer)}`;

/** `from` and `where` of the steers that joined a run of this request and were not read, as `steer`. */
const unreadOf = (requestId: SQL) => sql`
  ${runs} as joined_run join ${requests} as steer on steer.joined_run_id = joined_run.id
  where joined_run.request_id = ${requestId} and ${isUnread}`;

/**
 * Whether a steer that joined any run of a request is still unread, as a condition for a statement at hand.
 * A statement sees what was committed when it began: one that also waits for the session's lock has to come after it.
 *
 * @param requestId SQL for the request whose turn plays: a parameter, or a column of the statement.
 */
export const unreadSteers = (requestId: SQL): SQL<boolean> =>
  sql`exists (select 1 from ${unreadOf(requestId)})`;

/** Whether a steer that joined any run of this request is still unread. */
export async function hasUnreadSteers(db: Executor, requestId: string): Promise<boolean> {
  const rows = await queryRows<{ unread: boolean }>(
    db,
    sql`select ${unreadSteers(sql`${requestId}`)} as unread`,
  );
  return rows[0]?.unread ?? false;
}

/**
 * Locks the unread steers of a request's turn until the transaction ends, in order of arrival. Whether they are still
 * unread is for the next statement to see: it is the first that sees what was committed before the locks were ours.
 *
 * @returns their ids.
 */
export async function lockUnreadSteers(tx: Transaction, requestId: string): Promise<string[]> {
  const rows = await queryRows<{ id: string }>(
    tx,
    sql`select steer.id from ${unreadOf(sql`${requestId}`)} order by steer.position for update of steer`,
  );
  return rows.map(({ id }) => id);
}

/** Which steers of a request's turn are unread, in order of arrival. */
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
 * Gives the messages of locked steers their places in the transcript, in order of arrival from `messageSeq` + 1 on.
 * A steer that was taken back before the lock was ours is left out. @returns the messages in the order of their places.
 */
export async function placeSteers(
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
    // A message that is edited just now is waited for, and comes with its new text.
    .where(eq(messages.id, placed.id))
    .returning(getTableColumns(messages));
  return rows.toSorted((one, other) => (one.seq ?? 0) - (other.seq ?? 0));
}

/** Gives requests that joined another's run a first run of their own. @returns the runs, in the order given. */
export async function insertOwnRuns(tx: Transaction, news: (typeof runs.$inferInsert)[]): Promise<RunRow[]> {
  if (news.length === 0) return [];
  const written = await tx.insert(runs).values(news).onConflictDoNothing().returning();
  return news.flatMap(({ id }) => written.find((run) => run.id === id) ?? []);
}

/** Locks a steer that nobody reads or releases just now. @returns whether it is unread. */
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
  // In a statement of its own: what was committed before the lock was ours is seen only now.
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

/** How many steers of a session are unread. */
export const countUnreadSteers = (sessionId: SQL): SQL<number> => sql`(
  select count(*)::int from ${requests} as steer where steer.joined_run_id is not null and ${hasNoRun(steer)}
  and steer.id in (
    select request_id from ${messages} as waiting where waiting.session_id = ${sessionId} and waiting.seq is null
  )
)`;

/** The requests of a session whose messages a turn read between two of its steps. */
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
