import { sql } from "drizzle-orm";
import {
  type EngineRunState,
  type EngineStepKind,
  type EngineStepState,
  engineEvents,
  engineRuns,
  engineSteps,
} from "#db/schema/engine.ts";
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
import type { StoreContext } from "./store-context.ts";

export type StepRow = {
  stepId: string;
  kind: EngineStepKind;
  state: EngineStepState;
  attempt: number;
  dueAtMs: number | null;
  output: unknown;
  error: unknown;
};

/** The state of an open run, which its executor reads before a call. */
export type Snapshot = { attempt: number; wakes: number; steps: StepRow[] };

type OpenWait = {
  runId: string;
  stepId: string;
  eventName: string;
  expression: string | null;
  event: EngineEvent;
};
type OpenRun = { runId: string; functionId: string; createdAtMs: number; event: EngineEvent };

/** Writes the whole change, or nothing. */
export async function commitChange(
  { query, executorId, now }: StoreContext,
  change: Change,
): Promise<Receipt> {
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
 * Records one finished step. This statement runs most often, and Postgres spends most of its time on planning it, so
 * the statement is as simple as possible. A step that was recorded before keeps its first result.
 *
 * @returns whether the run is open and still has the epoch of `fence`.
 */
export async function recordStep(
  { query }: StoreContext,
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

/** Completes the given runs, except runs that have ended or have a new epoch. None of the runs may have a parent. */
export async function completeRuns(
  { query }: StoreContext,
  ends: (Fence & { output: unknown })[],
): Promise<void> {
  // With arrays, the statement's text is the same for any number of runs, so that Postgres can reuse its query plan.
  const ids = sql.param(ends.map(({ runId }) => runId));
  const epochs = sql.param(ends.map(({ epoch }) => epoch));
  const outputs = sql.param(ends.map(({ output }) => JSON.stringify(output) ?? "null"));
  await query(sql`update ${engineRuns} r set state = ${nextRunState("running", "completed")}, due_at = null,
      ended_at = now(), output = x.output
    from unnest(${ids}::text[], ${epochs}::int[], ${outputs}::json[]) as x(id, epoch, output)
    where r.id = x.id and r.epoch = x.epoch and r.state in ${OPEN}`);
}

/** Reads an open run with its steps, in the order in which they ended. Undefined if the run has ended or has a new epoch. */
export async function loadRun(
  { query }: StoreContext,
  runId: string,
  epoch: number,
): Promise<Snapshot | undefined> {
  const [row] =
    await query<Snapshot>(sql`select r.attempt, r.wakes, coalesce((select json_agg(json_build_object(
      'stepId', s.step_id, 'kind', s.kind, 'state', s.state, 'attempt', s.attempt, 'dueAtMs', ${msOf(sql`s.due_at`)},
      'output', s.output, 'error', s.error) order by s.position)
      from ${engineSteps} s where s.run_id = r.id), '[]'::json) as steps
    from ${engineRuns} r where r.id = ${runId} and r.epoch = ${epoch} and r.state in ${OPEN}`);
  return row;
}

/**
 * Marks a run as running, and ends the sleeps and waits of the run that are due. One statement does both: a crash
 * between two statements could leave a parked run that waits for nothing and would never wake.
 */
export async function beginRun(
  { query }: StoreContext,
  runId: string,
  epoch: number,
  nowMs: number,
): Promise<void> {
  const timedOut: SerializedError = { name: "Error", message: "The invoked function did not end in time." };
  await query(sql`with held as (
      update ${engineRuns} set state = ${nextRunState("waiting", "woken")}, due_at = null
      where id = ${runId} and epoch = ${epoch} and state in ${states(statesBefore("woken"))} returning id)
    update ${engineSteps} s set state = case when s.kind = 'invoke' then 'failed' else 'done' end,
      error = case when s.kind = 'invoke' then ${asJson(timedOut)} end, position = nextval('engine_step_order')
    from held where s.run_id = held.id and s.state = 'pending' and s.kind <> 'run'
      and s.due_at <= ${instantFrom(sql`${nowMs}::float8`)}`);
}

/** Finds the open waits for events of these names, in the runs of all executors. `event`: the event that started the run. */
export const findWaits = ({ query }: StoreContext, names: string[]) =>
  query<OpenWait>(sql`select s.run_id as "runId", s.step_id as "stepId", s.event_name as "eventName", s.expression,
      e.body as event
    from ${engineSteps} s join ${engineRuns} r on r.id = s.run_id join ${engineEvents} e on e.id = r.event_id
    where s.kind = 'event' and s.state = 'pending' and r.ended_at is null and s.event_name in ${names}`);

/** Finds the names of the events that steps wait for. */
export async function findAwaitedNames({ query }: StoreContext): Promise<string[]> {
  const rows = await query<{ name: string }>(
    sql`select distinct event_name as name from ${engineSteps} where kind = 'event' and state = 'pending'`,
  );
  return rows.map(({ name }) => name);
}

/** Finds the open runs of the given functions, each with the event that started the run. */
export const findOpenRuns = ({ query }: StoreContext, functionIds: string[]) =>
  query<OpenRun>(sql`select r.id as "runId", r.function_id as "functionId",
      ${msOf(sql`r.created_at`)} as "createdAtMs", e.body as event
    from ${engineRuns} r join ${engineEvents} e on e.id = r.event_id
    where r.ended_at is null and r.function_id in (select json_array_elements_text(${asJson(functionIds)}))`);
