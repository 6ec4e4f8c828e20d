import { and, asc, eq, getTableColumns, gt, inArray, isNotNull, sql } from "drizzle-orm";
import type { Database, Executor, Transaction } from "#db/client.ts";
import {
  agents,
  browsers,
  imports,
  messages,
  plans,
  requests,
  requirements,
  runs,
  sessions,
  steps,
  toolCalls,
} from "#db/schema/index.ts";
import type { RunOrigin } from "#db/schema/unions.ts";
import { defineStatement, prepareOnce, queryRows } from "#db/statement.ts";
import type { AgentRow } from "#lib/agents/agent-store.ts";
import { OPEN, OPEN_STATES, PLAYING_ORDER, type RunRow } from "#lib/session/store/run-store.ts";
import { selectedUrl } from "#lib/session/store/selected-url-store.ts";
import { type SessionRow, sessionColumns } from "#lib/session/store/session-store.ts";
import type { MessageRow } from "#lib/session/store/transcript-store.ts";
import type { RecordedEntry } from "../history/history.ts";
import type { Claim } from "./claim.ts";

/** The outcome of a claim. `later`: the run is a retry that is due in `delayMs`. `no`: the job cannot claim the run. */
type Taken =
  | { status: "taken"; epoch: number }
  | { status: "later"; delayMs: number }
  | { status: "not_claimable" };

/**
 * A job that plays a run. Newer jobs of a run have a higher `generation`. `player` is the id of the function run in
 * which the engine executes the job.
 */
export type PlayJob = { runId: string; generation: number; player: string };

const claimStatement = defineStatement<"runId" | "generation" | "player" | "now">(
  (value) => sql`
    with locked as (
      select id from ${sessions}
      where id = (select session_id from ${runs} where id = ${value("runId")}) for no key update
    ), run as (
      select id, session_id, not_before, not_before > present and created_at <= present as is_early, present
      from ${runs}, (select coalesce(${value("now")}::timestamptz, now()) as present) as clock
      where id = ${value("runId")} and session_id = (select id from locked) and generation <= ${value("generation")}::int and state in ${OPEN}
        and parked_at is null
      for no key update of runs
    ), first as (
      select ${runs.id} from ${runs} join ${requests} on ${requests.id} = ${runs.requestId}
      where ${runs.sessionId} = (select session_id from run) and ${runs.state} in ${OPEN}
      order by ${sql.join(PLAYING_ORDER, sql`, `)} limit 1
    ), taken as (
      update ${sessions} s set active_run_id = run.id, updated_at = now() from run, first
      where s.id = run.session_id and first.id = run.id and run.is_early is not true
        and (s.active_run_id is null or s.active_run_id = run.id)
      returning run.id
    ), raised as (
      update ${runs} r set epoch = r.epoch + 1, player = ${value("player")} from taken where r.id = taken.id returning r.epoch
    )
    select (select epoch from raised) as epoch, is_early, (extract(epoch from not_before - present) * 1000)::float8 as delay_ms
    from run`,
);

/**
 * Claims the session for a run if the run is open, due, not parked, and the first in line, and no other run of the
 * session is active. The run gets a new epoch, so that its earlier executors can write nothing more. A job of an older
 * generation claims nothing, because the run has a newer job. If the clock was set back and the creation of a retry is
 * now in the future, the retry is due at once.
 *
 * @param job.now the current time in tests; by default the database's.
 */
export async function claimRunRow(db: Executor, { now, ...job }: PlayJob & { now?: Date }): Promise<Taken> {
  const rows = await queryRows<{ epoch: number | null; is_early: boolean | null; delay_ms: number | null }>(
    db,
    claimStatement({ ...job, now: now?.toISOString() ?? null }),
  );
  const [row] = rows;
  if (row?.epoch) return { status: "taken", epoch: row.epoch };
  if (row?.is_early) return { status: "later", delayMs: Number(row.delay_ms) };
  return { status: "not_claimable" };
}

/** Returns the id of the engine's function run that last claimed a run; null if there is none. */
export async function findPlayer(db: Executor, runId: string): Promise<string | null> {
  const [row] = await db.select({ player: runs.player }).from(runs).where(eq(runs.id, runId));
  return row?.player ?? null;
}

/** A run with its session, the messages of its request, and the URL that the session's browser shows. */
export type RunRecord = {
  run: RunRow;
  session: SessionRow;
  /** The sub-agent to which the session belongs; undefined for a root session. */
  agent: AgentRow | undefined;
  /** The number of the request among all requests of the session, from 1. */
  position: number;
  requestMessages: MessageRow[];
  requestOrigin: RunOrigin;
  /** The URL that the browser shows; null if it shows none, or is on its way to the page that a client selected. */
  currentUrl: string | null;
  /** The URL of the page that the session selects, see {@link selectedUrl}. */
  selectedUrl: string | null;
  /** Whether the session's tree has a plan or requirements. If not, no further query for them is needed. */
  hasPlanning: boolean;
  /** Whether a conversation was imported into the session. */
  hasImports: boolean;
};

const readStatement = prepareOnce((db) => {
  const { id, seq, index, role, parts, author, createdAt } = messages;
  const requestMessages = sql<RequestMessageRow[] | null>`(
    select json_agg(json_build_object('id', ${id}, 'seq', ${seq}, 'index', ${index}, 'role', ${role},
      'parts', ${parts}, 'author', ${author}, 'createdAt', ${createdAt}) order by ${index})
    from ${messages} where ${messages.requestId} = ${requests.id} and ${messages.runId} is null)`;
  const root = sql`coalesce(${agents.rootSessionId}, ${runs.sessionId})`;
  return db
    .select({
      run: getTableColumns(runs),
      session: sessionColumns,
      position: requests.position,
      requestOrigin: requests.origin,
      requestMessages,
      agent: agents,
      currentUrl: sql<
        string | null
      >`case when ${browsers.pageWant} <> 'selected' then ${browsers.currentUrl} end`,
      selectedUrl,
      hasPlanning: sql<boolean>`(exists (select from ${plans} where ${plans.sessionId} = ${root})
        or exists (select from ${requirements} where ${requirements.sessionId} = ${root}))`,
      hasImports: sql<boolean>`exists (
        select from ${imports} where ${imports.sessionId} = ${runs.sessionId} and ${imports.messageCount} > 0)`,
    })
    .from(runs)
    .innerJoin(requests, eq(requests.id, runs.requestId))
    .innerJoin(sessions, eq(sessions.id, runs.sessionId))
    .leftJoin(agents, eq(agents.sessionId, runs.sessionId))
    .leftJoin(browsers, sql`${browsers.sessionId} = coalesce(${agents.browserSessionId}, ${runs.sessionId})`)
    .where(eq(runs.id, sql.placeholder("runId")))
    .prepare("read_run");
});

type RequestMessageRow = Omit<MessageRow, "createdAt" | "sessionId" | "requestId" | "runId"> & {
  createdAt: string;
};

/** Reads a run with the rows that its executor needs; undefined if the run does not exist. */
export async function readRun(db: Database, runId: string): Promise<RunRecord | undefined> {
  const [row] = await readStatement(db).execute({ runId });
  if (!row) return undefined;
  const { sessionId, requestId } = row.run;
  const requestMessages = (row.requestMessages ?? []).map((message) => ({
    ...message,
    createdAt: new Date(message.createdAt),
    sessionId,
    requestId,
    runId: null,
  }));
  return { ...row, agent: row.agent ?? undefined, requestMessages };
}

/**
 * The state of a run and the last position in its session's transcript. The rows of the run and the session are locked.
 */
export type LockedRun = Pick<RunRow, "state" | "epoch" | "attempt"> & {
  isCancelled: boolean;
  messageSeq: number;
};

// The session's lock protects all runs of the session. The end of a run also updates another run, the next one.
const lockStatement = defineStatement<"runId">(
  (value) => sql`
    with session as (
      select id, message_seq as "messageSeq" from ${sessions}
      where id = (select session_id from ${runs} where id = ${value("runId")}) for no key update
    ), run as (
      select state, epoch, attempt, cancel_requested_at is not null as "isCancelled" from ${runs}
      where id = ${value("runId")} and session_id = (select id from session) for no key update
    )
    select state, epoch, attempt, "isCancelled", "messageSeq" from run, session`,
);

/** Locks a run and its session until the transaction ends, so that the queue does not change. */
export async function lockRunAndSession(tx: Transaction, runId: string): Promise<LockedRun | undefined> {
  const rows = await queryRows<LockedRun>(tx, lockStatement({ runId }));
  return rows[0];
}

/** Reads the history that a session's model sees: the newest compaction, and every step that it does not replace. */
export async function listHistory(db: Executor, sessionId: string): Promise<RecordedEntry[]> {
  const through = db
    .select({ through: sql`coalesce(max(${steps.replacesThrough}), 0)` })
    .from(steps)
    .where(and(eq(steps.sessionId, sessionId), isNotNull(steps.replacesThrough)));
  const rows = await db
    .select({
      position: steps.position,
      messages: steps.modelMessages,
      replacesThrough: steps.replacesThrough,
    })
    .from(steps)
    .where(
      and(
        eq(steps.sessionId, sessionId),
        isNotNull(steps.modelMessages),
        gt(steps.position, sql`(${through})`),
      ),
    )
    .orderBy(asc(steps.position));
  return rows.map(({ position, messages, replacesThrough }) => ({
    position,
    // The cast is safe because this service has stored messages of the AI SDK here, as JSON.
    messages: (messages ?? []) as RecordedEntry["messages"],
    replacesThrough: replacesThrough ?? undefined,
  }));
}

/** Returns the position of the first step that any run of a request recorded; 0 if none has recorded a step. */
export async function findRequestStart(db: Executor, requestId: string): Promise<number> {
  const [row] = await db
    .select({ position: sql<number | string>`coalesce(min(${steps.position}), 0)` })
    .from(steps)
    .innerJoin(runs, eq(runs.id, steps.runId))
    .where(eq(runs.requestId, requestId));
  return Number(row?.position ?? 0);
}

/** Lists the names and outputs of a run's recorded steps, in order. */
export async function listStepOutputs(db: Executor, runId: string): Promise<[string, unknown][]> {
  const rows = await db
    .select({ name: steps.name, output: steps.output })
    .from(steps)
    .where(eq(steps.runId, runId))
    .orderBy(asc(steps.position));
  return rows.map(({ name, output }) => [name, output]);
}

/** Records that an open run is to stop. @returns false if the run has ended or does not exist. */
export async function requestCancel(db: Executor, runId: string, at: Date): Promise<boolean> {
  const marked = await db
    .update(runs)
    .set({ cancelRequestedAt: sql`coalesce(${runs.cancelRequestedAt}, ${at.toISOString()}::timestamptz)` })
    .where(and(eq(runs.id, runId), inArray(runs.state, OPEN_STATES)))
    .returning({ id: runs.id });
  return marked.length === 1;
}

/** The values that are stored when a tool call starts. */
type ToolCallStart = { callId: string; resultId: string; name: string; input: unknown; startedAt: Date };

const beginStatement = defineStatement<
  "runId" | "epoch" | "callId" | "resultId" | "name" | "input" | "startedAt"
>(
  (value) => sql`
    with locked as (
      select id from ${sessions}
      where id = (select session_id from ${runs} where id = ${value("runId")}) for key share
    ), held as (
      select id, session_id from ${runs}
      where id = ${value("runId")} and session_id = (select id from locked) and epoch = ${value("epoch")} and state = 'running' for no key update
    ), begun as (
      insert into ${toolCalls} (run_id, call_id, session_id, result_id, name, input, state, started_at)
      select id, ${value("callId")}, session_id, ${value("resultId")}, ${value("name")}, ${value("input")}::json,
        'started', ${value("startedAt")}::timestamptz from held
      on conflict do nothing returning call_id
    )
    select (select count(*) from begun)::int as begun from held`,
);

/**
 * Records the start of a tool call. @returns `begun`; `interrupted` if the call had begun before; `stale` if the claim
 * is over.
 */
export async function beginToolCall(
  db: Database,
  { runId, epoch }: Claim,
  { input, startedAt, ...call }: ToolCallStart,
): Promise<"begun" | "interrupted" | "stale"> {
  const values = { runId, epoch, ...call, input: JSON.stringify(input), startedAt: startedAt.toISOString() };
  const rows = await queryRows<{ begun: number }>(db, beginStatement(values));
  const [row] = rows;
  if (!row) return "stale";
  return row.begun === 1 ? "begun" : "interrupted";
}

/**
 * Removes the record that a tool call has begun, because the call waits for a person and continues later. Nothing
 * happens if the claim is over.
 */
export async function pauseToolCall(db: Database, { runId, epoch }: Claim, callId: string): Promise<void> {
  await db
    .delete(toolCalls)
    .where(
      and(
        eq(toolCalls.runId, runId),
        eq(toolCalls.callId, callId),
        eq(toolCalls.state, "started"),
        sql`exists (select 1 from ${runs} where ${runs.id} = ${runId} and ${runs.epoch} = ${epoch})`,
      ),
    );
}

/** Lists the ids of a run's tool calls that have begun and not ended. */
export async function listBegunCalls(db: Database, runId: string): Promise<string[]> {
  const rows = await db
    .select({ callId: toolCalls.callId })
    .from(toolCalls)
    .where(and(eq(toolCalls.runId, runId), eq(toolCalls.state, "started")));
  return rows.map(({ callId }) => callId);
}
