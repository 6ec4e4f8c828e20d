import { and, asc, desc, eq, inArray, isNotNull, ne, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Database, Executor } from "#db/client.ts";
import { deliverables, requests, runs, sessions } from "#db/schema/index.ts";
import { countUnreadSteers } from "./steering-store.ts";

export type RequestRow = typeof requests.$inferSelect;
export type RunRow = typeof runs.$inferSelect;
export type DeliverableRow = typeof deliverables.$inferSelect;

/** The states of a run that has not ended. */
export const OPEN_STATES = ["pending", "running"] as const;

/** {@link OPEN_STATES} as an SQL list, for `state in ${OPEN}`. */
export const OPEN = sql.raw(`(${OPEN_STATES.map((state) => `'${state}'`).join(", ")})`);

/** Whether a run has not ended. */
export const isOpen = (run: Pick<RunRow, "state">): boolean =>
  OPEN_STATES.some((state) => state === run.state);

/** Finds a request by its id; undefined if the session has no such request. */
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

/** Finds the newest run of a request. */
export async function findNewestRun(db: Executor, requestId: string): Promise<RunRow | undefined> {
  const [row] = await db
    .select()
    .from(runs)
    .where(eq(runs.requestId, requestId))
    .orderBy(desc(runs.attempt))
    .limit(1);
  return row;
}

/** Finds a request's run by attempt: 1 is the first run, higher numbers are retries. */
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

/** Finds the first request of a session and its first run. The response to the creation contained their ids. */
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

/** Finds a run by id, in any state. */
export async function findRun(db: Executor, runId: string): Promise<RunRow | undefined> {
  const [row] = await db.select().from(runs).where(eq(runs.id, runId));
  return row;
}

/**
 * The order in which the open runs of a session are played: the claimed run first, then the interrupts in order of
 * arrival, and then all other runs in order of arrival. A retry has the position of its request. The statement must
 * join `runs` and `requests`.
 * Source: `wire.md`, Follow-ups.
 */
export const PLAYING_ORDER: SQL[] = [
  sql`(${runs.state} = 'running' or ${runs.epoch} > 0) desc`,
  sql`(${requests.mode} = 'interrupt') desc`,
  asc(requests.position),
  asc(runs.attempt),
];

/** Lists the open runs of a session in playing order. */
export function listOpenRuns(db: Executor, sessionId: string) {
  return db
    .select({ run: runs, position: requests.position, mode: requests.mode })
    .from(runs)
    .innerJoin(requests, eq(requests.id, runs.requestId))
    .where(and(eq(runs.sessionId, sessionId), inArray(runs.state, OPEN_STATES)))
    .orderBy(...PLAYING_ORDER);
}

/**
 * The state of an open turn: `parked` if it waits for an event, otherwise `open` (it is being played or has not begun).
 */
export type OpenTurn = "open" | "parked";

/**
 * Returns the state of the open turn of each session, keyed by session id. Sessions without an open turn are omitted.
 */
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

/** SQL condition: the run has started, or it is a retry that was stopped before it started. */
export const IS_STARTED = sql`(${runs.startedAt} is not null or (${runs.attempt} > 1 and ${runs.endedAt} is not null))`;

/**
 * Sorts runs by the time when they started: the running run first, then the other runs, last started first. A retry that
 * was stopped before it started counts as started at its end. The statement must join `runs` and `requests`.
 */
export const STARTED_LAST: SQL[] = [
  sql`(${runs.state} = 'running') desc`,
  sql`coalesce(${runs.startedAt}, ${runs.endedAt}) desc`,
  desc(requests.position),
  desc(runs.attempt),
];

/** Finds the last started run of a session, as {@link IS_STARTED} defines it. */
export async function findLastRun(db: Executor, sessionId: string): Promise<RunRow | undefined> {
  const [row] = await db
    .select({ run: runs })
    .from(runs)
    .innerJoin(requests, eq(requests.id, runs.requestId))
    .where(and(eq(runs.sessionId, sessionId), IS_STARTED))
    .orderBy(...STARTED_LAST)
    .limit(1);
  return row?.run;
}

/** Lists at most `limit` runs of a session, newest first. */
export function listRuns(db: Executor, sessionId: string, limit: number): Promise<RunRow[]> {
  return db
    .select()
    .from(runs)
    .where(eq(runs.sessionId, sessionId))
    .orderBy(desc(runs.createdAt), desc(runs.attempt))
    .limit(limit);
}

/**
 * Counts the queued requests of a session, including those that joined a turn and are unread. The request of
 * `activeRunId` is not counted.
 */
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

/** Finds the deliverable of a run; undefined if the run has none. */
export async function findDeliverable(db: Executor, runId: string): Promise<DeliverableRow | undefined> {
  const [row] = await db.select().from(deliverables).where(eq(deliverables.runId, runId));
  return row;
}

/** Lists at most `limit` deliverables of a session, newest first. */
export function listDeliverables(db: Executor, sessionId: string, limit: number): Promise<DeliverableRow[]> {
  return db
    .select()
    .from(deliverables)
    .where(eq(deliverables.sessionId, sessionId))
    .orderBy(desc(deliverables.createdAt))
    .limit(limit);
}

/** Lists the ids of the given runs that are open and have a stop request. */
export async function listStopRequested(db: Database, runIds: string[]): Promise<string[]> {
  if (runIds.length === 0) return [];
  const rows = await db
    .select({ id: runs.id })
    .from(runs)
    .where(
      and(inArray(runs.id, runIds), inArray(runs.state, OPEN_STATES), isNotNull(runs.cancelRequestedAt)),
    );
  return rows.map(({ id }) => id);
}

/** The run that determines a request's status. */
export type AnsweringRun = Pick<RunRow, "id" | "requestId" | "state" | "attempt">;

/** The run that determines a request's status, and the turn that the request joined if its mode is `steer`. */
type FoundStatus =
  | { kind: "unknown_session" }
  | { kind: "unknown_request" }
  | {
      kind: "found";
      run: AnsweringRun;
      /**
       * The request whose turn this request joined, and the number of the session's last event at that time. The stream
       * of this request includes the later events of the joined turn.
       */
      joined: { requestId: string; afterSeq: number } | undefined;
    };

type StatusQuery = { sessionId: string; requestId: string; ownerId: string };

const prepared = new WeakMap<Database, ReturnType<typeof prepare>>();

/**
 * Finds the run that determines a request's status: the newest run of the request or, if it joined another request's
 * turn and has no run of its own, the newest run of that other request. The same statement checks that the session
 * belongs to the owner. The statement is prepared once per database to make it cheap, because most HTTP requests to the
 * service poll a status.
 */
export async function findStatus(db: Database, query: StatusQuery): Promise<FoundStatus> {
  const statement = prepared.get(db) ?? prepare(db);
  prepared.set(db, statement);
  const [row] = await statement.execute(query);
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
