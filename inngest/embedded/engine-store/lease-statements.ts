import { type SQL, sql } from "drizzle-orm";
import { hasEnded } from "#db/connection-name.ts";
import { engineEvents, engineExecutors, engineRuns, engineSteps } from "#db/schema/engine.ts";
import { asJson, instantFrom, msOf, type WokenRun } from "./store-change.ts";
import type { StoreContext } from "./store-context.ts";

export type ClaimedRun = WokenRun & { state: "running" | "waiting"; dueAtMs: number | null };

/**
 * The greatest difference that is expected between the clocks of a deployment. A row that is dated further in the
 * future was written before a clock was set back.
 */
const CLOCKS_DIFFER_MS = 60_000;
const PRUNE_BATCH = 1_000;
const PRUNE_BATCHES_MAX = 50;

/**
 * Renews this executor's lease, so that it ends `leaseMs` from now. A lease of another executor that ends even later
 * was written before the database's clock was set back. Such a lease is shortened, because a dead executor would
 * otherwise keep its runs too long.
 *
 * @returns whether this executor's lease had expired, because its process was suspended or the database's clock jumped.
 */
export async function renewLease(
  { query, executorId, process }: StoreContext,
  leaseMs: number,
): Promise<boolean> {
  const until = sql`now() + ${leaseMs} * interval '1 millisecond'`;
  const [row] = await query<{ hadExpired: boolean }>(sql`with cut as (
      update ${engineExecutors} set lease_until = ${until} where lease_until > ${until} and id <> ${executorId}
    ), renewed as (
      insert into ${engineExecutors} (id, lease_until, process) values (${executorId}, ${until}, ${process ?? null})
      on conflict (id) do update set lease_until = excluded.lease_until
    )
    select exists (select 1 from ${engineExecutors} where id = ${executorId} and lease_until <= now()) as "hadExpired"`);
  return row?.hadExpired ?? false;
}

/** Deletes this executor's lease, so that other executors can claim its runs. */
export async function releaseLease({ query, executorId }: StoreContext): Promise<void> {
  await query(sql`delete from ${engineExecutors} where id = ${executorId}`);
}

/**
 * Takes over the open runs of the given functions from executors without a valid lease and from executors whose process
 * has ended, or from every other executor if `takeAll`. A wait whose start is in the future was written before the clock
 * was set back. Such a wait starts again now, so that it does not last too long.
 */
export function claimRuns(
  { query, executorId, now }: StoreContext,
  functionIds: string[],
  takeAll: boolean,
): Promise<ClaimedRun[]> {
  const at = instantFrom(sql`${now()}::float8`);
  const dueAt = (due: SQL, since: SQL) =>
    sql`case when ${since} > ${at} then ${at} + (${due} - ${since}) else ${due} end`;
  const stepDue = dueAt(sql`s.due_at`, sql`s.created_at`);
  // The live executors are computed once and not for each run, because this reads all connections of the server.
  return query<ClaimedRun>(sql`with live as materialized (
      select x.id from ${engineExecutors} x
      where x.lease_until > now() and (x.process is null or not ${hasEnded(sql`x.process`)})
    ), taken as (
      update ${engineRuns} r set executor_id = ${executorId}, epoch = r.epoch + 1,
        due_at = ${dueAt(sql`r.due_at`, sql`r.waiting_since`)}, waiting_since = least(r.waiting_since, ${at})
      where r.ended_at is null and r.executor_id <> ${executorId}
        and r.function_id in (select json_array_elements_text(${asJson(functionIds)}))
        and (${takeAll} or r.executor_id not in (select id from live))
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
 * Deletes runs that ended more than `keepMs` ago, events of that age without a run, and executors whose lease ended
 * that long ago. Also deletes ended runs and events that are dated in the future: they were written before the clock
 * was set back, and their ids would keep crons from starting in the same minutes again. Each statement
 * deletes at most 1,000 rows, so that it locks them for a short time, and each kind has at most 50 statements per call.
 */
export async function prune({ query }: StoreContext, keepMs: number): Promise<void> {
  const future = sql`now() + ${CLOCKS_DIFFER_MS} * interval '1 millisecond'`;
  await query(sql`delete from ${engineRuns} where ended_at > ${future}`);
  await query(sql`delete from ${engineEvents} e where e.created_at > ${future}
    and not exists (select 1 from ${engineRuns} r where r.event_id = e.id)`);
  const old = sql`now() - ${keepMs} * interval '1 millisecond'`;
  const deleteAll = async (statement: SQL) => {
    for (let batch = 0; batch < PRUNE_BATCHES_MAX; batch += 1)
      if ((await query(statement)).length < PRUNE_BATCH) break;
  };
  await deleteAll(sql`delete from ${engineRuns} where id in
    (select id from ${engineRuns} where ended_at < ${old} order by ended_at limit ${PRUNE_BATCH}) returning id`);
  await deleteAll(sql`delete from ${engineEvents} where id in (select e.id from ${engineEvents} e
    where e.created_at < ${old} and not exists (select 1 from ${engineRuns} r where r.event_id = e.id)
    limit ${PRUNE_BATCH}) returning id`);
  await query(sql`delete from ${engineExecutors} where lease_until < ${old}`);
}
