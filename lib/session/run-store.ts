import { and, asc, count, desc, eq, inArray, isNotNull, ne, sql } from "drizzle-orm";
import type { Executor, Transaction } from "#db/client.ts";
import { deliverables, messages, requests, runs } from "#db/schema/index.ts";

export type RequestRow = typeof requests.$inferSelect;
export type RunRow = typeof runs.$inferSelect;
export type DeliverableRow = typeof deliverables.$inferSelect;

/** The states of a run that has not ended. */
export const OPEN_STATES = ["pending", "running"] as const;

/** Whether a run has not ended. */
export const isOpen = (run: Pick<RunRow, "state">): boolean =>
  OPEN_STATES.some((state) => state === run.state);

/** Writes a request with its first run and the messages it brought. */
export async function insertRequest(
  tx: Transaction,
  request: typeof requests.$inferInsert,
  run: typeof runs.$inferInsert,
  news: (typeof messages.$inferInsert)[],
): Promise<void> {
  await tx.insert(requests).values(request);
  await tx.insert(runs).values(run);
  await tx.insert(messages).values(news);
}

/** A request of this session; another session's is as unknown as one that never was. */
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

/** The request of a session that came with this key. */
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

/** A request's run by its attempt: 1 is the first, the others are its retries. */
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

/** A run by its id, in whatever state it is. */
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
    .where(and(eq(runs.sessionId, sessionId), inArray(runs.state, OPEN_STATES)))
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

/** The next place in the order of requests. */
export async function nextRequestPosition(tx: Transaction, sessionId: string): Promise<number> {
  const [row] = await tx
    .select({ last: sql<number>`coalesce(max(${requests.position}), 0)::int` })
    .from(requests)
    .where(eq(requests.sessionId, sessionId));
  return (row?.last ?? 0) + 1;
}

/** The deliverable of a run, once it has one. */
export async function findDeliverable(db: Executor, runId: string): Promise<DeliverableRow | undefined> {
  const [row] = await db.select().from(deliverables).where(eq(deliverables.runId, runId));
  return row;
}

/** The deliverables of a session, newest first, at most `limit`. */
export function listDeliverables(db: Executor, sessionId: string, limit: number): Promise<DeliverableRow[]> {
  return db
    .select()
    .from(deliverables)
    .where(eq(deliverables.sessionId, sessionId))
    .orderBy(desc(deliverables.createdAt))
    .limit(limit);
}
