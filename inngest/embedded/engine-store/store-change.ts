import { type SQL, sql } from "drizzle-orm";
import { type EngineRunState, engineEvents, engineRuns, engineSteps } from "#db/schema/engine.ts";
import type { EngineEvent, SerializedError } from "../protocol.ts";
import { nextRunState, statesBefore } from "./run-state.ts";

/** A step to write: its result, or (`pending`) what it waits for. `dueAtMs`: end of the wait, in ms since the epoch. */
export type StepWrite = { stepId: string; name: string } & (
  | { state: "done"; output: unknown }
  | { state: "failed"; error: SerializedError }
  | { state: "pending"; kind: "run"; attempt: number; dueAtMs: number }
  | { state: "pending"; kind: "sleep"; dueAtMs: number }
  | { state: "pending"; kind: "event"; dueAtMs: number; eventName: string; expression: string | undefined }
  | { state: "pending"; kind: "invoke"; dueAtMs: number | undefined }
);

/** A run that an event of the same change starts. */
export type NewRun = {
  id: string;
  functionId: string;
  eventId: string;
  idempotencyKey?: string | undefined;
  parent?: { runId: string; stepId: string } | undefined;
};

/** The next state of the run, with the values that are stored with it. */
type RunMove =
  | { to: "waiting"; attempt: number; dueAtMs?: number | undefined; wakes: number }
  | { to: "running"; attempt: number }
  | { to: "completed"; output: unknown; hasParent: boolean }
  | { to: "failed"; error: SerializedError; hasParent: boolean };

/** The run that a write belongs to, and the epoch that the run must still have. Each new claim increases the epoch. */
export type Fence = { runId: string; epoch: number };

/** Everything that one statement writes. With `fence`, it is written only if the run is open and has that epoch. */
export type Change = {
  fence?: Fence;
  steps?: StepWrite[];
  move?: RunMove;
  events?: EngineEvent[];
  runs?: NewRun[];
  /** The waiting steps that an event of this change wakes. The event becomes the output of the step. */
  satisfied?: { runId: string; stepId: string; eventId: string }[];
  /** Runs that an event of this change cancels. */
  cancelled?: { runId: string; eventId: string }[];
};

/** A run of this executor that can continue: an event has arrived, or a run that it invoked has ended. */
export type WokenRun = {
  id: string;
  functionId: string;
  epoch: number;
  hasParent: boolean;
  event: EngineEvent;
};

/** The result of a change. `held` is false if nothing was written, because the run has ended or has a new epoch. */
export type Receipt = {
  held: boolean;
  state: EngineRunState | undefined;
  started: string[];
  woken: WokenRun[];
  cancelled: string[];
};

export const states = (list: readonly string[]) =>
  sql.raw(`(${list.map((state) => `'${state}'`).join(", ")})`);
/** The states of a run that has not ended, as a list in SQL. */
export const OPEN = states(statesBefore("cancelled"));
export const instantFrom = (ms: SQL) => sql`to_timestamp(${ms} / 1000.0)`;
export const msOf = (column: SQL) => sql`(extract(epoch from ${column}) * 1000)::float8`;
export const asJson = (value: unknown) => sql`${JSON.stringify(value) ?? "null"}::json`;

const row = (values: SQL[]) => sql`(${sql.join(values, sql`, `)})`;
const text = (value: string | null | undefined) => sql`${value ?? null}::text`;

/** Composes the row of a step, with typed values in the order of `STEP_COLUMNS`. */
function toStepRow(step: StepWrite, nowMs: number): SQL {
  const isPending = step.state === "pending";
  return row([
    text(step.stepId),
    text(isPending ? step.kind : "run"),
    text(step.state),
    text(step.name),
    isPending ? sql`null::bigint` : sql`nextval('engine_step_order')`,
    sql`${isPending && step.kind === "run" ? step.attempt : 0}::int`,
    isPending ? instantFrom(sql`${step.dueAtMs ?? null}::float8`) : sql`null::timestamptz`,
    text(isPending && step.kind === "event" ? step.eventName : null),
    text(isPending && step.kind === "event" ? step.expression : null),
    step.state === "done" ? asJson(step.output) : sql`null::json`,
    step.state === "failed" ? asJson(step.error) : sql`null::json`,
    // Like `due_at`, `created_at` is on the engine's clock, so that their difference is the length of the wait.
    instantFrom(sql`${nowMs}::float8`),
  ]);
}

const STEP_COLUMNS = sql.raw(
  "step_id, kind, state, name, position, attempt, due_at, event_name, expression, output, error, created_at",
);

/** SQL: writes steps. A recorded result is never overwritten. A stored sleep or wait keeps its due time. */
const writtenSteps = (steps: StepWrite[], nowMs: number) => sql`written as (
  insert into ${engineSteps} as s (run_id, ${STEP_COLUMNS})
  select held.id, x.* from held, (values ${sql.join(
    steps.map((step) => toStepRow(step, nowMs)),
    sql`, `,
  )}) as x(${STEP_COLUMNS})
  on conflict (run_id, step_id) do update set state = excluded.state, position = excluded.position,
    attempt = excluded.attempt, due_at = excluded.due_at, output = excluded.output, error = excluded.error,
    created_at = excluded.created_at
  where s.state = 'pending' and s.kind = 'run')`;

function movedRun(move: RunMove, nowMs: number): SQL {
  if (move.to === "running")
    return sql`moved as (update ${engineRuns} r set attempt = ${move.attempt} from held where r.id = held.id
      returning r.id, r.state)`;
  if (move.to === "waiting")
    return sql`moved as (update ${engineRuns} r set attempt = ${move.attempt},
      due_at = ${instantFrom(sql`${move.dueAtMs ?? null}::float8`)},
      waiting_since = ${instantFrom(sql`${nowMs}::float8`)},
      state = case when r.wakes = ${move.wakes} then ${nextRunState("running", "parked")} else r.state end
      from held where r.id = held.id returning r.id, r.state)`;
  const output = move.to === "completed" ? asJson(move.output) : sql`null`;
  const error = move.to === "failed" ? asJson(move.error) : sql`null`;
  return sql`moved as (update ${engineRuns} r set state = ${nextRunState("running", move.to)}, due_at = null,
    ended_at = now(), output = ${output}, error = ${error} from held where r.id = held.id
    returning r.id, r.state, r.output, r.error, r.parent_run_id, r.parent_step_id)`;
}

const insertedEvents = (events: EngineEvent[], isFenced: boolean) => {
  const rows = events.map((event) => row([text(event.id), text(event.name), asJson(event)]));
  return sql`fresh as (insert into ${engineEvents} (id, name, body)
    select * from (values ${sql.join(rows, sql`, `)}) as x(id, name, body)
    ${isFenced ? sql`where exists (select 1 from held)` : sql``} on conflict (id) do nothing returning id, body)`;
};

const insertedRuns = (runs: NewRun[], executorId: string) => {
  const rows = runs.map(({ id, functionId, eventId, idempotencyKey, parent }) =>
    row([id, functionId, eventId, idempotencyKey, parent?.runId, parent?.stepId].map(text)),
  );
  return sql`started as (insert into ${engineRuns}
    (id, function_id, event_id, idempotency_key, parent_run_id, parent_step_id, executor_id)
    select x.id, x.function_id, x.event_id, x.idempotency_key, x.parent_run_id, x.parent_step_id, ${executorId}::text
    from (values ${sql.join(rows, sql`, `)})
      as x(id, function_id, event_id, idempotency_key, parent_run_id, parent_step_id)
      join fresh on fresh.id = x.event_id
    on conflict do nothing returning id)`;
};

const cancelledRuns = (list: { runId: string; eventId: string }[]) => sql`cancelled as (
  update ${engineRuns} r set state = 'cancelled', epoch = r.epoch + 1, ended_at = now(), due_at = null
  from json_to_recordset(${asJson(list)}) as x("runId" text, "eventId" text) join fresh on fresh.id = x."eventId"
  where r.id = x."runId" and r.state in ${OPEN} returning r.id, r.parent_run_id, r.parent_step_id)`;

const satisfiedWaits = (list: { runId: string; stepId: string; eventId: string }[]) => sql`satisfied as (
  update ${engineSteps} s set state = 'done', output = fresh.body, position = nextval('engine_step_order')
  from json_to_recordset(${asJson(list)}) as x("runId" text, "stepId" text, "eventId" text)
    join fresh on fresh.id = x."eventId"
  where s.run_id = x."runId" and s.step_id = x."stepId" and s.state = 'pending' returning s.run_id)`;

const CANCELLED_CHILD: SerializedError = { name: "Error", message: "The invoked function was cancelled." };

/** SQL: makes the outcome of an invoked run the result of the step that invoked the run. */
const answeredParents = (from: "moved" | "cancelled") => {
  const isDone = from === "moved" ? sql`f.state = 'completed'` : sql`false`;
  const output = from === "moved" ? sql`f.output` : sql`null`;
  const error = from === "moved" ? sql`f.error` : asJson(CANCELLED_CHILD);
  return sql`answered as (update ${engineSteps} s set state = case when ${isDone} then 'done' else 'failed' end,
    output = ${output}, error = ${error}, position = nextval('engine_step_order') from ${sql.raw(from)} f
    where s.run_id = f.parent_run_id and s.step_id = f.parent_step_id and s.state = 'pending' returning s.run_id)`;
};

/**
 * SQL: wakes runs, and increments their `wakes`. A parked run moves to this executor and gets a new epoch. A running
 * run keeps its executor and its epoch.
 */
const wokenRuns = (sources: SQL[], executorId: string) => sql`woken as (
  update ${engineRuns} r set wakes = r.wakes + 1, state = ${nextRunState("waiting", "woken")},
    epoch = r.epoch + case when r.state = 'waiting' then 1 else 0 end,
    executor_id = case when r.state = 'waiting' then ${executorId} else r.executor_id end
  from (${sql.join(sources, sql` union `)}) x where r.id = x.run_id and r.state in ${states(statesBefore("woken"))}
  returning r.id, r.function_id, r.epoch, r.executor_id, r.parent_run_id, r.event_id)`;

/**
 * Composes the statement for one event that starts one run. It has as few parts as possible, because Postgres spends
 * most of its time on planning it.
 */
const startedRun = (event: EngineEvent, run: NewRun, executorId: string) => sql`
  with fresh as (insert into ${engineEvents} (id, name, body) values (${event.id}, ${event.name}, ${asJson(event)})
    on conflict (id) do nothing returning id)
  insert into ${engineRuns} (id, function_id, event_id, idempotency_key, executor_id)
  select ${run.id}, ${run.functionId}, id, ${run.idempotencyKey ?? null}, ${executorId} from fresh
  on conflict do nothing returning json_build_array(id) as started`;

/**
 * Composes the statement that writes a change.
 *
 * @param nowMs the current time on the engine's clock. The waits of the change start at this time.
 */
export function composeChange(change: Change, executorId: string, nowMs: number): SQL {
  const { fence, steps = [], move, events = [], runs = [], satisfied = [], cancelled = [] } = change;
  const effects = steps.length + satisfied.length + cancelled.length;
  const [event] = events;
  const [run] = runs;
  if (effects === 0 && !fence && event && run && !run.parent && events.length + runs.length === 2)
    return startedRun(event, run, executorId);

  const parts: SQL[] = [];
  const wakers: SQL[] = [];
  const columns: SQL[] = [];
  if (fence) {
    parts.push(sql`held as (select id from ${engineRuns} where id = ${fence.runId} and epoch = ${fence.epoch}
      and state in ${OPEN} for no key update)`);
    columns.push(sql`(select count(*)::int from held) as held`);
  }
  if (steps.length > 0) parts.push(writtenSteps(steps, nowMs));
  if (move) {
    parts.push(movedRun(move, nowMs));
    columns.push(sql`(select state from moved) as state`);
  }
  if (events.length > 0) parts.push(insertedEvents(events, fence !== undefined));
  if (runs.length > 0) {
    parts.push(insertedRuns(runs, executorId));
    columns.push(sql`(select json_agg(id) from started) as started`);
  }
  if (satisfied.length > 0) {
    parts.push(satisfiedWaits(satisfied));
    wakers.push(sql`select run_id from satisfied`);
  }
  if (cancelled.length > 0) {
    parts.push(cancelledRuns(cancelled));
    columns.push(sql`(select json_agg(id) from cancelled) as cancelled`);
  }
  const hasEndedChild = move && "hasParent" in move && move.hasParent;
  if (hasEndedChild || cancelled.length > 0) {
    parts.push(answeredParents(hasEndedChild ? "moved" : "cancelled"));
    wakers.push(sql`select run_id from answered`);
  }
  if (wakers.length > 0) {
    parts.push(wokenRuns(wakers, executorId));
    columns.push(sql`(select json_agg(json_build_object('id', w.id, 'functionId', w.function_id, 'epoch', w.epoch,
      'hasParent', w.parent_run_id is not null, 'event', e.body))
      from woken w join ${engineEvents} e on e.id = w.event_id where w.executor_id = ${executorId}) as woken`);
  }
  if (columns.length === 0) columns.push(sql`1 as held`);
  return sql`with ${sql.join(parts, sql`, `)} select ${sql.join(columns, sql`, `)}`;
}
