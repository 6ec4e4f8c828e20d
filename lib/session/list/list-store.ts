import { and, asc, desc, eq, inArray, isNotNull, isNull, sql } from "drizzle-orm";
import type { Database, Executor } from "#db/client.ts";
import { readSnapshot } from "#db/read-snapshot.ts";
import { deliverables, elicitations, plans, requests, runs, sessions, waits } from "#db/schema/index.ts";
import type { WaitKind } from "#db/schema/unions.ts";
import {
  type DeliverableRow,
  IS_STARTED,
  OPEN_STATES,
  PLAYING_ORDER,
  type RunRow,
  STARTED_LAST,
} from "../store/run-store.ts";
import { type SessionRow, sessionColumns } from "../store/session-store.ts";
import { WAIT_KIND_ORDER } from "../waiting/waiting-on.ts";

/**
 * Lists at most `page.limit` sessions of an owner, newest first. With `page.before`, lists only sessions that are older
 * than this session. Sub-agents are not listed.
 */
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
          sql`(${sessions.createdAt}, ${sessions.id}) < (${before.createdAt.toISOString()}::timestamptz, ${before.id})`,
      ),
    )
    .orderBy(desc(sessions.createdAt), desc(sessions.id))
    .limit(page.limit);
}

/** Finds what links to the pages of these sessions need, by session id. Sessions that do not exist are omitted. */
export async function findSessionPages(
  db: Executor,
  sessionIds: string[],
): Promise<Map<string, Pick<SessionRow, "title" | "shareRevocation">>> {
  if (sessionIds.length === 0) return new Map();
  const { id, title, shareRevocation } = sessionColumns;
  const rows = await db
    .select({ id, title, shareRevocation })
    .from(sessions)
    .where(inArray(sessions.id, sessionIds));
  return new Map(rows.map((row) => [row.id, row]));
}

/** Sorts the waits of a run so that the wait that the API reports comes first. */
const REPORTED_WAIT = sql`array_position(${sql.param(`{${WAIT_KIND_ORDER.join()}}`)}::text[], ${waits.kind}::text)`;

/** The last started run of a session, with its deliverable. */
export type LastRun = Pick<RunRow, "state" | "error" | "pageError"> & {
  deliverable: Pick<DeliverableRow, "status" | "error"> | null;
  /** Whether the plan has open items that a person must agree to first (plan-first mode). */
  awaitsGo: boolean;
};

/**
 * Finds the last started run of each session. The map is keyed by session id; sessions without a started run are
 * omitted.
 */
async function findLastRuns(db: Executor, sessionIds: string[]): Promise<Map<string, LastRun>> {
  if (sessionIds.length === 0) return new Map();
  const rows = await db
    .selectDistinctOn([runs.sessionId], {
      sessionId: runs.sessionId,
      run: { state: runs.state, error: runs.error, pageError: runs.pageError },
      deliverable: { status: deliverables.status, error: deliverables.error },
      awaitsGo: sql<boolean>`${plans.mode} = 'plan_first' and exists (
        select from jsonb_array_elements(${plans.items}) as item where item ->> 'status' in ('todo', 'in_progress'))`,
    })
    .from(runs)
    .innerJoin(requests, eq(requests.id, runs.requestId))
    .leftJoin(deliverables, eq(deliverables.runId, runs.id))
    .leftJoin(plans, eq(plans.sessionId, runs.sessionId))
    .where(and(inArray(runs.sessionId, sessionIds), IS_STARTED))
    .orderBy(runs.sessionId, ...STARTED_LAST);
  return new Map(
    rows.map(({ sessionId, run, deliverable, awaitsGo }) => [
      sessionId,
      { ...run, deliverable, awaitsGo: awaitsGo === true },
    ]),
  );
}

/** The open run of a session that is played now or next, with what it waits for. */
export type OpenRun = Pick<RunRow, "state" | "attempt" | "isCompacting"> & {
  /** The oldest open question of the run to a person; null if there is none. */
  question: string | null;
  /** What the run waits for; null if it is not parked. Of several waits, the kind that comes first in `WAIT_KIND_ORDER`. */
  waitsFor: WaitKind | null;
  /** A sentence about the exhausted budget; null if `waitsFor` is not `budget`. */
  exhausted: string | null;
};

/**
 * Finds the first open run of each session in playing order. The map is keyed by session id; idle sessions are omitted.
 */
async function findOpenRuns(db: Executor, sessionIds: string[]): Promise<Map<string, OpenRun>> {
  if (sessionIds.length === 0) return new Map();
  const rows = await db
    .selectDistinctOn([runs.sessionId], {
      sessionId: runs.sessionId,
      run: {
        state: runs.state,
        attempt: runs.attempt,
        isCompacting: runs.isCompacting,
        question: elicitations.question,
        waitsFor: waits.kind,
        exhausted: sql<string | null>`case when ${waits.kind} = 'budget' then ${waits.subjects} ->> 0 end`,
      },
    })
    .from(runs)
    .innerJoin(requests, eq(requests.id, runs.requestId))
    .leftJoin(elicitations, and(eq(elicitations.runId, runs.id), eq(elicitations.state, "open")))
    .leftJoin(waits, and(eq(waits.runId, runs.id), isNotNull(runs.parkedAt), isNull(waits.endedBy)))
    .where(and(inArray(runs.sessionId, sessionIds), inArray(runs.state, OPEN_STATES)))
    .orderBy(runs.sessionId, ...PLAYING_ORDER, asc(elicitations.createdAt), REPORTED_WAIT);
  return new Map(rows.map(({ sessionId, run }) => [sessionId, run]));
}

/** The runs from which the states of sessions are computed, keyed by session id. */
type SessionRuns = { last: Map<string, LastRun>; open: Map<string, OpenRun> };

/**
 * Finds the last started run and the first open run of each session, as they are at one moment. If they were read at
 * different moments, a run that ends in between would be neither.
 */
export const findSessionRuns = (db: Database, sessionIds: string[]): Promise<SessionRuns> =>
  readSnapshot(db, async (tx) => ({
    last: await findLastRuns(tx, sessionIds),
    open: await findOpenRuns(tx, sessionIds),
  }));
