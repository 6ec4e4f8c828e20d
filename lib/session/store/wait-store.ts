import { and, asc, eq, inArray, isNotNull, isNull, lte, ne, or, type SQL, sql } from "drizzle-orm";
import type { Executor, Transaction } from "#db/client.ts";
import { databaseTime } from "#db/database-time.ts";
import {
  agents,
  elicitations,
  inboxItems,
  outbox,
  runs,
  sessions,
  testRuns,
  waits,
} from "#db/schema/index.ts";
import type { Source, WaitEnd, WaitKind } from "#db/schema/unions.ts";
import { defineStatement, queryRows } from "#db/statement.ts";

export type WaitRow = typeof waits.$inferSelect;

/** A new wait of a tool call; if `callId` is empty, of the run itself. */
export type NewWait = Pick<WaitRow, "callId" | "kind" | "subjects" | "until" | "deadlineAt" | "createdAt">;

/** Lists the waits of a run, including ended ones. */
export function listWaits(db: Executor, runId: string): Promise<WaitRow[]> {
  return db.select().from(waits).where(eq(waits.runId, runId)).orderBy(asc(waits.createdAt));
}

/**
 * Lists the kinds of the open waits of each session, keyed by session id. Only sessions whose turn is parked are
 * included.
 */
export async function listWaitKinds(db: Executor, sessionIds: string[]): Promise<Map<string, WaitKind[]>> {
  if (sessionIds.length === 0) return new Map();
  const rows = await db
    .select({ sessionId: runs.sessionId, kind: waits.kind })
    .from(runs)
    .innerJoin(waits, and(eq(waits.runId, runs.id), isNull(waits.endedBy)))
    .where(and(inArray(runs.sessionId, sessionIds), eq(runs.state, "running"), isNotNull(runs.parkedAt)));
  const kinds = new Map<string, WaitKind[]>();
  for (const { sessionId, kind } of rows) kinds.set(sessionId, [...(kinds.get(sessionId) ?? []), kind]);
  return kinds;
}

/**
 * Opens waits of a run. If a call already has a wait, that wait is opened again with the values of the new wait, but
 * keeps its creation time.
 */
export async function openWaits(
  tx: Transaction,
  { runId, sessionId }: { runId: string; sessionId: string },
  newWaits: NewWait[],
): Promise<void> {
  await tx
    .insert(waits)
    .values(newWaits.map((wait) => ({ runId, sessionId, ...wait })))
    .onConflictDoUpdate({
      target: [waits.runId, waits.callId],
      set: {
        kind: sql`excluded.kind`,
        subjects: sql`excluded.subjects`,
        until: sql`excluded.until`,
        deadlineAt: sql`excluded.deadline_at`,
        endedBy: null,
      },
    });
}

/**
 * Lists the call ids of the waits that need not begin, because their questions, sub-agents or test runs have ended
 * already. The caller must hold the session's lock.
 */
export async function listSettledWaits(tx: Transaction, newWaits: readonly NewWait[]): Promise<string[]> {
  const settled: string[] = [];
  for (const { callId, kind, subjects, until } of newWaits) {
    const ids = [...subjects];
    const count =
      kind === "person"
        ? (await tx.$count(
            elicitations,
            and(inArray(elicitations.id, ids), sql`${elicitations.state} <> 'open'`),
          )) +
          (await tx.$count(inboxItems, and(inArray(inboxItems.id, ids), sql`${inboxItems.state} <> 'open'`)))
        : kind === "agents"
          ? await tx.$count(agents, and(inArray(agents.sessionId, ids), isNotNull(agents.outcome)))
          : kind === "tests"
            ? await tx.$count(testRuns, and(inArray(testRuns.id, ids), isNotNull(testRuns.endedAt)))
            : 0;
    if (count > 0 && (until === "any" || count === ids.length)) settled.push(callId);
  }
  return settled;
}

/** A woken run, with the generation of the job that continues it. */
type WokenRun = {
  runId: string;
  sessionId: string;
  requestId: string;
  generation: number;
  source: Source;
};

const end = defineStatement<"runId" | "callId" | "endedBy">(
  (value) => sql`
    with ended as (
      update ${waits} w set ended_by = ${value("endedBy")}
      where w.run_id = ${value("runId")} and w.ended_by is null
        and (${value("callId")}::text is null or w.call_id = ${value("callId")}) returning w.run_id
    ), woken as (
      update ${runs} r set parked_at = null, generation = r.generation + 1
      where r.id = ${value("runId")} and r.parked_at is not null and exists (select 1 from ended)
      returning r.id, r.session_id, r.request_id, r.generation
    ), sent as (
      insert into ${outbox} (id, name, data)
      select id || ':' || generation, 'turn/run.requested',
        json_build_object('runId', id, 'sessionId', session_id, 'generation', generation)::jsonb from woken
    )
    select woken.id as "runId", woken.session_id as "sessionId", woken.request_id as "requestId", woken.generation, s.source
    from woken join ${sessions} s on s.id = woken.session_id`,
);

/**
 * Ends one wait of a run, or all waits of the run if `callId` is null. If this ends a wait of a parked run, the run is
 * woken: it is no longer parked, and the job that continues it is in the outbox. The caller must hold the session's
 * lock.
 *
 * @returns the run; undefined if this call has not woken it.
 */
export async function endWaitRows(
  tx: Transaction,
  runId: string,
  endedBy: WaitEnd,
  callId: string | null,
): Promise<WokenRun | undefined> {
  const [woken] = await queryRows<WokenRun>(tx, end({ runId, callId, endedBy }));
  return woken;
}

/** The key of a wait (`runId` and `callId`), and the wait's session. */
type WaitKey = Pick<WaitRow, "runId" | "callId" | "sessionId">;

/** Selects the open waits of parked runs that meet a condition. */
const selectOpenWaits = (db: Executor, condition: SQL | undefined) =>
  db
    .select({ runId: waits.runId, callId: waits.callId, sessionId: waits.sessionId })
    .from(waits)
    .innerJoin(runs, eq(runs.id, waits.runId))
    .where(and(isNull(waits.endedBy), isNotNull(runs.parkedAt), condition));

/** Lists the open waits whose deadline has passed, longest overdue first. @param now replaces the clock in tests. */
export const listOverdueWaits = (db: Executor, limit: number, now?: Date): Promise<WaitKey[]> =>
  selectOpenWaits(db, lte(waits.deadlineAt, databaseTime(now)))
    .orderBy(asc(waits.deadlineAt))
    .limit(limit);

/**
 * Lists the open waits for control of a session's browser, including the waits of sub-agents that share the browser.
 * Without `sessionId`, lists the open control waits of all sessions.
 */
export async function listControlWaits(db: Executor, sessionId?: string): Promise<WaitKey[]> {
  const sharing = sql`(select ${agents.sessionId} from ${agents} where ${agents.browserSessionId} = ${sessionId} and ${agents.browser} = 'shared')`;
  const ofSession =
    sessionId === undefined
      ? undefined
      : or(eq(waits.sessionId, sessionId), sql`${waits.sessionId} in ${sharing}`);
  return selectOpenWaits(db, and(eq(waits.kind, "control"), ofSession));
}

/** Selects the open waits of a root session and its sub-agents for a budget: that of the session, or of its owner. */
const isBudgetWait = (rootId: string) =>
  and(
    eq(waits.kind, "budget"),
    isNull(waits.endedBy),
    sql`(${waits.sessionId} = ${rootId} or ${waits.sessionId} in (
      select ${agents.sessionId} from ${agents} where ${agents.rootSessionId} = ${rootId}))`,
  );

const waitKey = { runId: waits.runId, callId: waits.callId, sessionId: waits.sessionId };

/**
 * Sets the deadline of the open waits for a budget to now. If this process ends before it wakes the waiting runs, the
 * sweep of overdue waits wakes them.
 *
 * @returns the changed waits.
 */
export const expireBudgetWaits = (tx: Transaction, rootId: string): Promise<WaitKey[]> =>
  tx.update(waits).set({ deadlineAt: databaseTime() }).where(isBudgetWait(rootId)).returning(waitKey);

/**
 * Stores a new reason for the open waits for a budget, which continue.
 *
 * @param until when the budget is renewed; null if only a caller can raise it.
 * @returns the changed waits; those that had this reason before are not among them.
 */
export const renewBudgetWaits = (
  tx: Transaction,
  rootId: string,
  { reason, until }: { reason: string; until: Date | null },
): Promise<WaitKey[]> =>
  tx
    .update(waits)
    .set({ subjects: [reason], deadlineAt: until })
    .where(and(isBudgetWait(rootId), ne(waits.subjects, [reason])))
    .returning(waitKey);

/**
 * Lists the ids of at most 100 parked runs with a stop request. Such a run remains parked if the process that stored
 * the request ended before it stopped the run.
 */
export async function listStoppedParked(db: Executor): Promise<string[]> {
  const rows = await db
    .select({ id: runs.id })
    .from(runs)
    .where(and(eq(runs.state, "running"), isNotNull(runs.parkedAt), isNotNull(runs.cancelRequestedAt)))
    .limit(100);
  return rows.map(({ id }) => id);
}
