import { type SQL, sql } from "drizzle-orm";
import type { Database } from "#db/client.ts";
import {
  type EngineRunState,
  type EngineStepKind,
  type EngineStepState,
  engineEvents,
  engineExecutors,
  engineRuns,
  engineSteps,
} from "#db/schema/engine.ts";
import { queryRows } from "#db/statement.ts";
import type { EngineEvent, SerializedError } from "../protocol.ts";
import { nextRunState, statesBefore } from "./run-state.ts";
import {
  asJson,
  type Change,
  composeChange,
  type Fence,
  instantFrom,
  msOf,
  OPEN,
  type Receipt,
  states,
  type WokenRun,
} from "./store-change.ts";

export type { Change, Fence, NewRun, Receipt, StepWrite, WokenRun } from "./store-change.ts";

export type StepRow = {
  stepId: string;
  kind: EngineStepKind;
  state: EngineStepState;
  attempt: number;
  dueAtMs: number | null;
  output: unknown;
  error: unknown;
};

/** An open run as its executor finds it before a call. */
export type Snapshot = { attempt: number; wakes: number; steps: StepRow[] };

export type ClaimedRun = WokenRun & { state: "running" | "waiting"; dueAtMs: number | null };

type OpenWait = {
  runId: string;
  stepId: string;
  eventName: string;
  expression: string | null;
  event: EngineEvent;
};
type OpenRun = { runId: string; functionId: string; createdAtMs: number; event: EngineEvent };

export type EngineStore = ReturnType<typeof createEngineStore>;

/** Longer than two clocks of one deployment differ; a row from further in the future was written before a clock was set back. */
const CLOCKS_DIFFER_MS = 60_000;

/**
 * The engine's rows: the only part of it that knows Drizzle. Every method is one statement, so one transaction.
 *
 * @param now the engine's clock.
 */
export function createEngineStore(db: Database, executorId: string, now: () => number) {
  const query = <Row>(statement: SQL) => queryRows<Row>(db, statement);

  /** Writes a change, all of it or nothing. */
  async function commit(change: Change): Promise<Receipt> {
    const [row] = await query<{
      held?: number;
      state?: EngineRunState | null;
      started?: string[] | null;
      woken?: WokenRun[] | null;
      cancelled?: string[] | null;
    }>(composeChange(change, executorId, now()));
    return {
      held: change.fence === undefined || row?.held === 1,
      state: row?.state ?? undefined,
      started: row?.started ?? [],
      woken: row?.woken ?? [],
      cancelled: row?.cancelled ?? [],
    };
  }

  /**
   * Records one finished step, the hot path: a flat statement, as planning is most of its cost. A step recorded
   * before keeps its first result. Answers whether the run is open and of that epoch.
   */
  async function recordStep(
    fence: Fence,
    step: { stepId: string; name: string; output: unknown },
  ): Promise<boolean> {
    const rows =
      await query(sql`insert into ${engineSteps} as s (run_id, step_id, kind, state, name, position, output)
      select id, ${step.stepId}, 'run', 'done', ${step.name}, nextval('engine_step_order'), ${asJson(step.output)}
      from ${engineRuns} where id = ${fence.runId} and epoch = ${fence.epoch} and state in ${OPEN} for no key update
      on conflict (run_id, step_id) do update set state = case when s.state = 'pending' then 'done' else s.state end,
        position = coalesce(s.position, excluded.position),
        output = case when s.state = 'pending' then excluded.output else s.output end
      returning 1`);
    return rows.length > 0;
  }

  /** Ends runs that lead to nothing else, as far as each is open and of the epoch that is named. */
  async function completeRuns(ends: (Fence & { output: unknown })[]): Promise<void> {
    const rows = ends.map(
      ({ runId, epoch, output }) => sql`(${runId}::text, ${epoch}::int, ${asJson(output)})`,
    );
    await query(sql`update ${engineRuns} r set state = ${nextRunState("running", "completed")}, due_at = null,
        ended_at = now(), output = x.output
      from (values ${sql.join(rows, sql`, `)}) as x(id, epoch, output)
      where r.id = x.id and r.epoch = x.epoch and r.state in ${OPEN}`);
  }

  /** Reads an open run and its steps, in the order they ended, for a call; undefined when it is not ours. */
  async function load(runId: string, epoch: number): Promise<Snapshot | undefined> {
    const [row] =
      await query<Snapshot>(sql`select r.attempt, r.wakes, coalesce((select json_agg(json_build_object(
        'stepId', s.step_id, 'kind', s.kind, 'state', s.state, 'attempt', s.attempt, 'dueAtMs', ${msOf(sql`s.due_at`)},
        'output', s.output, 'error', s.error) order by s.position)
        from ${engineSteps} s where s.run_id = r.id), '[]'::json) as steps
      from ${engineRuns} r where r.id = ${runId} and r.epoch = ${epoch} and r.state in ${OPEN}`);
    return row;
  }

  /**
   * Takes a run up to be played, and ends its sleeps and waits whose time has come: together, as a parked run that
   * waits for nothing would never be woken after a crash.
   */
  async function takeUp(runId: string, epoch: number, nowMs: number): Promise<void> {
    const timedOut: SerializedError = { name: "Error", message: "The invoked function did not end in time." };
    await query(sql`with held as (
        update ${engineRuns} set state = ${nextRunState("waiting", "woken")}, due_at = null
        where id = ${runId} and epoch = ${epoch} and state in ${states(statesBefore("woken"))} returning id)
      update ${engineSteps} s set state = case when s.kind = 'invoke' then 'failed' else 'done' end,
        error = case when s.kind = 'invoke' then ${asJson(timedOut)} end, position = nextval('engine_step_order')
      from held where s.run_id = held.id and s.state = 'pending' and s.kind <> 'run'
        and s.due_at <= ${instantFrom(sql`${nowMs}::float8`)}`);
  }

  /** Waits that one of these event names might satisfy, of whatever executor, with the event their run began with. */
  const findWaits = (names: string[]) =>
    query<OpenWait>(sql`select s.run_id as "runId", s.step_id as "stepId", s.event_name as "eventName", s.expression,
        e.body as event
      from ${engineSteps} s join ${engineRuns} r on r.id = s.run_id join ${engineEvents} e on e.id = r.event_id
      where s.kind = 'event' and s.state = 'pending' and r.ended_at is null and s.event_name in ${names}`);

  /** Names of the events that any open wait is for. */
  async function findAwaitedNames(): Promise<string[]> {
    const rows = await query<{ name: string }>(
      sql`select distinct event_name as name from ${engineSteps} where kind = 'event' and state = 'pending'`,
    );
    return rows.map(({ name }) => name);
  }

  /** Open runs of these functions, with the event each began with. */
  const findOpenRuns = (functionIds: string[]) =>
    query<OpenRun>(sql`select r.id as "runId", r.function_id as "functionId",
        ${msOf(sql`r.created_at`)} as "createdAtMs", e.body as event
      from ${engineRuns} r join ${engineEvents} e on e.id = r.event_id
      where r.ended_at is null and r.function_id in (select json_array_elements_text(${asJson(functionIds)}))`);

  /**
   * Renews this executor's lease for another `leaseMs`, and cuts leases that reach further: they were written before the
   * database's clock was set back, and a dead executor's would hold its runs until then.
   *
   * @returns whether the lease had run out: this executor was suspended, or the database's clock jumped forward.
   */
  async function renewLease(leaseMs: number): Promise<boolean> {
    const until = sql`now() + ${leaseMs} * interval '1 millisecond'`;
    const [row] = await query<{ hadExpired: boolean }>(sql`with cut as (
        update ${engineExecutors} set lease_until = ${until} where lease_until > ${until} and id <> ${executorId}
      ), renewed as (
        insert into ${engineExecutors} (id, lease_until) values (${executorId}, ${until})
        on conflict (id) do update set lease_until = excluded.lease_until
      )
      select exists (select 1 from ${engineExecutors} where id = ${executorId} and lease_until <= now()) as "hadExpired"`);
    return row?.hadExpired ?? false;
  }

  /** Gives all runs of this executor free. */
  async function releaseLease(): Promise<void> {
    await query(sql`delete from ${engineExecutors} where id = ${executorId}`);
  }

  /**
   * Takes over the open runs of executors without a lease, or of every other executor when `takeAll`. A wait that began in
   * the future was written before the clock was set back: it begins again now, so that it never exceeds its own length.
   */
  function claimRuns(functionIds: string[], takeAll: boolean): Promise<ClaimedRun[]> {
    const at = instantFrom(sql`${now()}::float8`);
    const dueAt = (due: SQL, since: SQL) =>
      sql`case when ${since} > ${at} then ${at} + (${due} - ${since}) else ${due} end`;
    const stepDue = dueAt(sql`s.due_at`, sql`s.created_at`);
    return query<ClaimedRun>(sql`with taken as (
        update ${engineRuns} r set executor_id = ${executorId}, epoch = r.epoch + 1,
          due_at = ${dueAt(sql`r.due_at`, sql`r.waiting_since`)}, waiting_since = least(r.waiting_since, ${at})
        where r.ended_at is null and r.executor_id <> ${executorId}
          and r.function_id in (select json_array_elements_text(${asJson(functionIds)}))
          and (${takeAll} or not exists
            (select 1 from ${engineExecutors} x where x.id = r.executor_id and x.lease_until > now()))
        returning r.id, r.function_id, r.epoch, r.state, r.event_id, r.due_at, r.parent_run_id
      ), begun as (
        update ${engineSteps} s set due_at = ${stepDue}, created_at = ${at} from taken t
        where s.run_id = t.id and s.state = 'pending' and s.created_at > ${at}
      )
      select t.id, t.function_id as "functionId", t.epoch, t.state, t.parent_run_id is not null as "hasParent",
        e.body as event, ${msOf(sql`least(t.due_at, (select min(${stepDue}) from ${engineSteps} s
          where s.run_id = t.id and s.state = 'pending'))`)} as "dueAtMs"
      from taken t join ${engineEvents} e on e.id = t.event_id`);
  }

  /**
   * Forgets runs that ended longer ago than `keepMs`, events as old that no run needs, and dead executors. Rows from the
   * future were written before the clock was set back; their ids would hold up the crons of the same minutes.
   */
  async function prune(keepMs: number): Promise<void> {
    const future = sql`now() + ${CLOCKS_DIFFER_MS} * interval '1 millisecond'`;
    await query(sql`delete from ${engineRuns} where ended_at > ${future}`);
    await query(sql`delete from ${engineEvents} e where e.created_at > ${future}
      and not exists (select 1 from ${engineRuns} r where r.event_id = e.id)`);
    const old = sql`now() - ${keepMs} * interval '1 millisecond'`;
    await query(sql`delete from ${engineRuns} where id in
      (select id from ${engineRuns} where ended_at < ${old} order by ended_at limit 1000)`);
    await query(sql`delete from ${engineEvents} where id in (select e.id from ${engineEvents} e
      where e.created_at < ${old} and not exists (select 1 from ${engineRuns} r where r.event_id = e.id) limit 1000)`);
    await query(sql`delete from ${engineExecutors} where lease_until < ${old}`);
  }

  return {
    commit,
    recordStep,
    completeRuns,
    load,
    takeUp,
    findWaits,
    findAwaitedNames,
    findOpenRuns,
    renewLease,
    releaseLease,
    claimRuns,
    prune,
  };
}
