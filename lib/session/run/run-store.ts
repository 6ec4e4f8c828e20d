import { and, asc, desc, eq, inArray, isNotNull, ne, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Database, Executor } from "#db/client.ts";
import { deliverables, requests, runs, sessions } from "#db/schema/index.ts";
import { countUnreadSteers } from "../follow-up/steering-store.ts";

export type RequestRow = typeof requests.$inferSelect;
export type RunRow = typeof runs.$inferSelect;
export type DeliverableRow = typeof deliverables.$inferSelect;

/** The states of a run that has not ended. */
export const OPEN_STATES = ["pending", "running"] as const;

/** The same as an SQL list, for `state in ${OPEN}`. */
export const OPEN = sql.raw(`(${OPEN_STATES.map((state) => `'${state}'`).join(", ")})`);

/** Whether a run has not ended. */
export const isOpen = (run: Pick<RunRow, "state">): boolean =>
  OPEN_STATES.some((state) => state === run.state);

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

/**
 * The order in which the open runs of a session are played, for a statement that joins `runs` with their `requests`:
 * the claimed one, then interrupts, then the others, each in order of arrival; a retry stands where its request does.
 * Source: `wire.md`, Follow-ups.
 */
export const PLAYING_ORDER: SQL[] = [
  sql`(${runs.state} = 'running' or ${runs.epoch} > 0) desc`,
  sql`(${requests.mode} = 'interrupt') desc`,
  asc(requests.position),
  asc(runs.attempt),
];

/** Pending and running runs of a session in the order they are to be played. */
export function listOpenRuns(db: Executor, sessionId: string) {
  return db
    .select({ run: runs, position: requests.position, mode: requests.mode })
    .from(runs)
    .innerJoin(requests, eq(requests.id, runs.requestId))
    .where(and(eq(runs.sessionId, sessionId), inArray(runs.state, OPEN_STATES)))
    .orderBy(...PLAYING_ORDER);
}

/** A turn that plays, waits for something (`parked`), or has yet to start. */
export type OpenTurn = "open" | "parked";

/** Which of these sessions have an open turn, by session id. */
export async function findOpenTurns(
  db: Executor,
  sessionIds: readonly string[],
): Promise<Map<string, OpenTurn>> {
  if (sessionIds.length === 0) return new Map();
  const rows = await db
    .select({
      sessionId: runs.sessionId,
      isParked: sql<boolean>`bool_or(${runs.parkedAt} is not null)`,
    })
    .from(runs)
    .where(and(inArray(runs.sessionId, [...sessionIds]), inArray(runs.state, OPEN_STATES)))
    .groupBy(runs.sessionId);
  return new Map(rows.map(({ sessionId, isParked }) => [sessionId, isParked ? "parked" : "open"]));
}

/** Newest first by when runs started; one that plays is the newest. */
export const STARTED_LAST: SQL[] = [
  sql`(${runs.state} = 'running') desc`,
  desc(runs.startedAt),
  desc(requests.position),
  desc(runs.attempt),
];

/** The run that started last. */
export async function findLastRun(db: Executor, sessionId: string): Promise<RunRow | undefined> {
  const [row] = await db
    .select({ run: runs })
    .from(runs)
    .innerJoin(requests, eq(requests.id, runs.requestId))
    .where(and(eq(runs.sessionId, sessionId), isNotNull(runs.startedAt)))
    .orderBy(...STARTED_LAST)
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

/** How many requests wait: for the turns before theirs, or to be read by the one that plays. */
export async function countQueued(
  db: Executor,
  sessionId: string,
  activeRunId: string | null,
): Promise<number> {
  const [row] = await db
    .select({ waiting: sql<number>`count(*)::int + ${countUnreadSteers(sql`${sessionId}`)}` })
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

/** Those of the runs that somebody asked to stop and that have not ended. @returns their ids. */
export async function listAskedToStop(db: Database, runIds: string[]): Promise<string[]> {
  if (runIds.length === 0) return [];
  const rows = await db
    .select({ id: runs.id })
    .from(runs)
    .where(
      and(inArray(runs.id, runIds), inArray(runs.state, OPEN_STATES), isNotNull(runs.cancelRequestedAt)),
    );
  return rows.map(({ id }) => id);
}

/** The run whose state is a request's. */
export type AnsweringRun = Pick<RunRow, "id" | "requestId" | "state" | "attempt">;

/** A request's status hangs on the run that answers for it; its stream also on the turn that a steer joined. */
type FoundStatus =
  | { kind: "unknown_session" }
  | { kind: "unknown_request" }
  | {
      kind: "found";
      run: AnsweringRun;
      /** Whose turn a steer joined, and the number of the event after which it did. */
      joined: { requestId: string; afterSeq: number } | undefined;
    };

type Asked = { sessionId: string; requestId: string; ownerId: string };

const prepared = new WeakMap<Database, ReturnType<typeof prepare>>();

/**
 * Finds the run whose state is a request's, in one statement that also tells whether the session is this owner's: the
 * newest run of its own; for a steer without one, the newest of the request whose turn it joined.
 * Polls make up most of what a service is asked, so the statement is built and planned once.
 */
export async function findStatus(db: Database, asked: Asked): Promise<FoundStatus> {
  const statement = prepared.get(db) ?? prepare(db);
  prepared.set(db, statement);
  const [row] = await statement.execute(asked);
  if (!row) return { kind: "unknown_session" };
  const { id, requestId, state, attempt, joinedId, afterSeq } = row;
  if (id === null || requestId === null || state === null || attempt === null)
    return { kind: "unknown_request" };
  const joined = joinedId !== null && afterSeq !== null ? { requestId: joinedId, afterSeq } : undefined;
  return { kind: "found", run: { id, requestId, state, attempt }, joined };
}

function prepare(db: Database) {
  const { placeholder } = sql;
  const joined = alias(runs, "joined_run");
  return db
    .select({
      id: runs.id,
      requestId: runs.requestId,
      state: runs.state,
      attempt: runs.attempt,
      joinedId: joined.requestId,
      afterSeq: requests.joinedAfterSeq,
    })
    .from(sessions)
    .leftJoin(requests, and(eq(requests.sessionId, sessions.id), eq(requests.id, placeholder("requestId"))))
    .leftJoin(joined, eq(joined.id, requests.joinedRunId))
    .leftJoin(runs, sql`${runs.requestId} in (${requests.id}, ${joined.requestId})`)
    .where(and(eq(sessions.id, placeholder("sessionId")), eq(sessions.ownerId, placeholder("ownerId"))))
    .orderBy(sql`(${runs.requestId} = ${requests.id}) desc`, desc(runs.attempt))
    .limit(1)
    .prepare("find_status");
}
