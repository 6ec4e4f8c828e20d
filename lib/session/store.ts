import { and, asc, count, desc, eq, getTableColumns, inArray, isNotNull, isNull, ne, sql } from "drizzle-orm";
import type { Executor, Transaction } from "#db/client.ts";
import { deliverables, messages, requests, runs, sealedSecrets, sessions } from "#db/schema/index.ts";
import type { StartupStatus } from "#db/schema/unions.ts";
import type { TranscriptMessage } from "#lib/events/event.ts";

/** A session without its metadata: the service never reads that, and it may be megabytes. */
export type SessionRow = Omit<typeof sessions.$inferSelect, "metadata">;
export type NewSessionRow = typeof sessions.$inferInsert;
export type RequestRow = typeof requests.$inferSelect;
export type RunRow = typeof runs.$inferSelect;
export type MessageRow = typeof messages.$inferSelect;
export type NewMessageRow = typeof messages.$inferInsert;
export type DeliverableRow = typeof deliverables.$inferSelect;

const OPEN = ["pending", "running"] as const;
const { metadata: _unread, ...columns } = getTableColumns(sessions);

/** The columns of {@link SessionRow}. */
export const sessionColumns: Omit<typeof sessions._.columns, "metadata"> = columns;

/** Inserts a session unless its owner used the idempotency key before. @returns whether it was inserted. */
export async function insertSession(tx: Transaction, row: NewSessionRow): Promise<boolean> {
  const inserted = await tx
    .insert(sessions)
    .values(row)
    .onConflictDoNothing({ target: [sessions.ownerId, sessions.idempotencyKey] })
    .returning({ id: sessions.id });
  return inserted.length === 1;
}

export async function insertSecrets(
  tx: Transaction,
  rows: (typeof sealedSecrets.$inferInsert)[],
): Promise<void> {
  if (rows.length > 0) await tx.insert(sealedSecrets).values(rows);
}

export async function insertRequest(
  tx: Transaction,
  request: typeof requests.$inferInsert,
  run: typeof runs.$inferInsert,
  news: NewMessageRow[],
): Promise<void> {
  await tx.insert(requests).values(request);
  await tx.insert(runs).values(run);
  await tx.insert(messages).values(news);
}

/** A session of this owner; another owner's is as unknown as one that never was. */
export async function findSession(
  db: Executor,
  sessionId: string,
  ownerId?: string,
): Promise<SessionRow | undefined> {
  const [row] = await db
    .select(sessionColumns)
    .from(sessions)
    .where(
      and(eq(sessions.id, sessionId), ownerId === undefined ? undefined : eq(sessions.ownerId, ownerId)),
    );
  return row;
}

export async function findSessionByIdempotencyKey(
  db: Executor,
  ownerId: string,
  key: string,
): Promise<SessionRow | undefined> {
  const [row] = await db
    .select(sessionColumns)
    .from(sessions)
    .where(and(eq(sessions.ownerId, ownerId), eq(sessions.idempotencyKey, key)));
  return row;
}

/** Locks a session's row until the transaction ends, so that its queue has one order. */
export async function lockSession(tx: Transaction, sessionId: string): Promise<SessionRow | undefined> {
  const [row] = await tx
    .select(sessionColumns)
    .from(sessions)
    .where(eq(sessions.id, sessionId))
    .for("update");
  return row;
}

export async function findRequest(
  db: Executor,
  sessionId: string,
  requestId: string,
): Promise<RequestRow | undefined> {
  const [row] = await db
    .select()
    .from(requests)
    .where(and(eq(requests.id, requestId), eq(requests.sessionId, sessionId)));
  return row;
}

export async function findRequestByIdempotencyKey(
  db: Executor,
  sessionId: string,
  key: string,
): Promise<RequestRow | undefined> {
  const [row] = await db
    .select()
    .from(requests)
    .where(and(eq(requests.sessionId, sessionId), eq(requests.idempotencyKey, key)));
  return row;
}

/** The newest run of a request. */
export async function findNewestRun(db: Executor, requestId: string): Promise<RunRow | undefined> {
  const [row] = await db
    .select()
    .from(runs)
    .where(eq(runs.requestId, requestId))
    .orderBy(desc(runs.attempt))
    .limit(1);
  return row;
}

export async function findRunByAttempt(
  db: Executor,
  requestId: string,
  attempt: number,
): Promise<RunRow | undefined> {
  const [row] = await db
    .select()
    .from(runs)
    .where(and(eq(runs.requestId, requestId), eq(runs.attempt, attempt)));
  return row;
}

/** The first request of a session and its first run: what its creation answered with. */
export async function findFirstRun(
  db: Executor,
  sessionId: string,
): Promise<{ requestId: string; runId: string } | undefined> {
  const [row] = await db
    .select({ requestId: requests.id, runId: runs.id })
    .from(requests)
    .innerJoin(runs, and(eq(runs.requestId, requests.id), eq(runs.attempt, 1)))
    .where(and(eq(requests.sessionId, sessionId), eq(requests.position, 1)));
  return row;
}

export async function findRun(db: Executor, runId: string): Promise<RunRow | undefined> {
  const [row] = await db.select().from(runs).where(eq(runs.id, runId));
  return row;
}

/** Pending and running runs of a session in the order they are to be played. */
export function listOpenRuns(db: Executor, sessionId: string) {
  return db
    .select({ run: runs, position: requests.position })
    .from(runs)
    .innerJoin(requests, eq(requests.id, runs.requestId))
    .where(and(eq(runs.sessionId, sessionId), inArray(runs.state, OPEN)))
    .orderBy(asc(requests.position), asc(runs.attempt));
}

/** The run that ended or started last, by the order of turns. */
export async function findLastRun(db: Executor, sessionId: string): Promise<RunRow | undefined> {
  const [row] = await db
    .select({ run: runs })
    .from(runs)
    .innerJoin(requests, eq(requests.id, runs.requestId))
    .where(and(eq(runs.sessionId, sessionId), isNotNull(runs.startedAt)))
    .orderBy(desc(requests.position), desc(runs.attempt))
    .limit(1);
  return row?.run;
}

/** The runs of a session, newest first, at most `limit`. */
export function listRuns(db: Executor, sessionId: string, limit: number): Promise<RunRow[]> {
  return db
    .select()
    .from(runs)
    .where(eq(runs.sessionId, sessionId))
    .orderBy(desc(runs.createdAt), desc(runs.attempt))
    .limit(limit);
}

export async function findDeliverable(db: Executor, runId: string): Promise<DeliverableRow | undefined> {
  const [row] = await db.select().from(deliverables).where(eq(deliverables.runId, runId));
  return row;
}

export function listDeliverables(db: Executor, sessionId: string, limit: number): Promise<DeliverableRow[]> {
  return db
    .select()
    .from(deliverables)
    .where(eq(deliverables.sessionId, sessionId))
    .orderBy(desc(deliverables.createdAt))
    .limit(limit);
}

/** The next place in the order of requests. */
export async function nextRequestPosition(tx: Transaction, sessionId: string): Promise<number> {
  const [row] = await tx
    .select({ last: sql<number>`coalesce(max(${requests.position}), 0)::int` })
    .from(requests)
    .where(eq(requests.sessionId, sessionId));
  return (row?.last ?? 0) + 1;
}

/** The next place in the transcript. */
export async function nextMessageSeq(tx: Transaction, sessionId: string): Promise<number> {
  const [row] = await tx
    .select({ last: sql<number>`coalesce(max(${messages.seq}), 0)::int` })
    .from(messages)
    .where(eq(messages.sessionId, sessionId));
  return (row?.last ?? 0) + 1;
}

/** The messages that a request brought, in order; also while they wait outside the transcript. */
export function listRequestMessages(db: Executor, requestId: string): Promise<MessageRow[]> {
  return db
    .select()
    .from(messages)
    .where(and(eq(messages.requestId, requestId), isNull(messages.runId)))
    .orderBy(asc(messages.index));
}

/** Requests whose messages wait for their turn, in order. */
export async function listQueuedRequests(
  db: Executor,
  sessionId: string,
): Promise<{ request: RequestRow; message: MessageRow }[]> {
  return db
    .select({ request: requests, message: messages })
    .from(messages)
    .innerJoin(requests, eq(requests.id, messages.requestId))
    .innerJoin(runs, and(eq(runs.requestId, requests.id), eq(runs.state, "pending"), eq(runs.attempt, 1)))
    .where(
      and(
        eq(messages.sessionId, sessionId),
        isNull(messages.seq),
        isNull(messages.runId),
        eq(messages.role, "user"),
      ),
    )
    .orderBy(asc(requests.position), asc(messages.index));
}

/** How many requests wait behind the running one. */
export async function countQueued(
  db: Executor,
  sessionId: string,
  activeRunId: string | null,
): Promise<number> {
  const [row] = await db
    .select({ waiting: count() })
    .from(runs)
    .where(
      and(
        eq(runs.sessionId, sessionId),
        eq(runs.state, "pending"),
        eq(runs.attempt, 1),
        activeRunId === null ? undefined : ne(runs.id, activeRunId),
      ),
    );
  return row?.waiting ?? 0;
}

/** Replaces the text of a request's last waiting user message. @returns whether one was waiting. */
export async function replaceQueuedText(tx: Transaction, requestId: string, text: string): Promise<boolean> {
  const waiting = await listRequestMessages(tx, requestId);
  const last = waiting.findLast((message) => message.role === "user" && message.seq === null);
  if (!last) return false;
  await tx
    .update(messages)
    .set({ parts: [{ type: "text", text }] })
    .where(eq(messages.id, last.id));
  return true;
}

/** The latest messages of the transcript, oldest first. */
export async function listRecentMessages(
  db: Executor,
  sessionId: string,
  limit: number,
): Promise<TranscriptMessage[]> {
  const rows = await db
    .select()
    .from(messages)
    .where(and(eq(messages.sessionId, sessionId), isNotNull(messages.seq)))
    .orderBy(desc(messages.seq))
    .limit(limit);
  return rows.toReversed().map((row) => toTranscriptMessage(row, row.seq ?? 0));
}

/** A message as events and lists show it. */
export const toTranscriptMessage = (row: MessageRow, seq: number): TranscriptMessage => ({
  ...{
    id: row.id,
    seq,
    role: row.role,
    parts: row.parts,
    requestId: row.requestId,
    runId: row.runId,
    author: row.author,
  },
  createdAt: row.createdAt.toISOString(),
});

/** Notes how far a session's workspace has come. */
export async function setStartupStatus(
  db: Executor,
  sessionId: string,
  startupStatus: StartupStatus,
): Promise<void> {
  await db.update(sessions).set({ startupStatus }).where(eq(sessions.id, sessionId));
}
