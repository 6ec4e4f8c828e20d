import { and, asc, eq, inArray, isNull, type Placeholder, type SQL, sql } from "drizzle-orm";
import type { Database, Executor, Transaction } from "#db/client.ts";
import { databaseTime, milliseconds } from "#db/database-time.ts";
import { engineEvents, engineRuns, outbox, requests, runs } from "#db/schema/index.ts";
import { type Job, type PlannedJob, requestRun } from "./jobs.ts";
import { OPEN_STATES, PLAYING_ORDER } from "./run-store.ts";

/** Inserts jobs into the outbox in the current transaction. Send them after the commit. */
export async function enqueueJobs(tx: Transaction, jobs: Job[]): Promise<void> {
  if (jobs.length > 0) await tx.insert(outbox).values(jobs);
}

/**
 * Lists unsent jobs of at least this age, oldest first. Also lists jobs whose creation time is in the future, because
 * they were written before the clock was set back.
 *
 * @param options.now replaces the database's clock in tests.
 */
export async function listUnsentJobs(
  db: Executor,
  { ageMs, limit, now }: { ageMs: number; limit: number; now?: Date | undefined },
): Promise<Job[]> {
  const at = databaseTime(now);
  const rows = await db
    .select({ id: outbox.id, name: outbox.name, data: outbox.data })
    .from(outbox)
    .where(
      and(
        isNull(outbox.sentAt),
        sql`not ${outbox.createdAt} between ${at} - ${milliseconds(ageMs)} and ${at}`,
      ),
    )
    .orderBy(asc(outbox.createdAt))
    .limit(limit);
  // The cast is safe: all writers of the outbox store a `Job`.
  return rows as Job[];
}

/** Marks jobs as sent to the engine. Locks the jobs in the order of their ids (`architecture.md`, Locks). */
export async function markJobsSent(db: Executor, ids: string[]): Promise<void> {
  const locked = sql`(select id from ${outbox} where ${inArray(outbox.id, ids)} order by id for update)`;
  await db.update(outbox).set({ sentAt: databaseTime() }).where(sql`${outbox.id} in ${locked}`);
}

/** Deletes jobs that were sent longer ago than `ageMs`. @returns the number of deleted jobs. */
export async function pruneSentJobs(db: Database, ageMs: number, now?: Date): Promise<number> {
  const deleted = await db
    .delete(outbox)
    .where(
      sql`${outbox.id} in (select id from ${outbox}
        where ${outbox.sentAt} < ${databaseTime(now)} - ${milliseconds(ageMs)} for update skip locked)`,
    )
    .returning({ id: outbox.id });
  return deleted.length;
}

/**
 * Inserts the next job of a run, unless the run already has a job of a later generation.
 *
 * @param generation generation of the previous job.
 * @param resends number of resends since a process last played the run.
 */
export async function enqueueNextGeneration(
  db: Database,
  runId: string,
  generation: number,
  resends = 0,
): Promise<Job | undefined> {
  return db.transaction(async (tx) => {
    const [run] = await tx
      .update(runs)
      .set({ generation: generation + 1 })
      .where(and(eq(runs.id, runId), eq(runs.generation, generation)))
      .returning({ id: runs.id, sessionId: runs.sessionId, generation: runs.generation });
    if (!run) return undefined;
    const job = requestRun(run, resends);
    await enqueueJobs(tx, [job]);
    return job;
  });
}

/** SQL for the id of the outbox row of a run's current job. */
const jobId = sql`${runs.id} || ':' || ${runs.generation}`;

/** After this many resends of a run that no process has played, the delay before the next resend no longer doubles. */
const DOUBLINGS_MAX = 4;

/**
 * Sets `sent_at` of the jobs of runs that are being played to the current time, and removes their number of resends.
 * `sent_at` is the time when the engine, or the process that plays the run, was last known to have the job.
 *
 * @param now replaces the database's clock in tests.
 */
export async function recordRunsPlayed(db: Database, runIds: string[], now?: Date): Promise<void> {
  if (runIds.length === 0) return;
  const ids = db.select({ id: jobId }).from(runs).where(inArray(runs.id, runIds));
  await db
    .update(outbox)
    .set({ sentAt: databaseTime(now), data: sql`${outbox.data} - 'resends'` })
    .where(and(inArray(outbox.id, ids), sql`${outbox.sentAt} is not null`));
}

/**
 * Inserts jobs with a new generation for runs that the engine has lost. A run counts as lost if it is the first open
 * run of its session in playing order, and if neither the engine nor a playing process is known to have had its job
 * during the last `lostAfterMs`. This time doubles with each resend, at most {@link DOUBLINGS_MAX} times, because an
 * engine with a long queue may still have the job. A `sent_at` in the future was written before the clock was set back,
 * and is set to now instead. Parked runs are skipped, because the end of their wait inserts the next job. Retries that
 * are not due yet are skipped too.
 *
 * @param now replaces the database's clock in tests.
 */
export async function requeueLostRuns(db: Database, lostAfterMs: number, now?: Date): Promise<Job[]> {
  const at = databaseTime(now);
  const resends = sql<number>`coalesce((${outbox.data} ->> 'resends')::int, 0)`;
  const next = db
    .selectDistinctOn([runs.sessionId], {
      id: runs.id,
      sessionId: runs.sessionId,
      generation: runs.generation,
      parkedAt: runs.parkedAt,
      jobId: jobId.as("job_id"),
      since: sql<Date>`greatest(${runs.createdAt}, ${runs.notBefore})`.as("since"),
      isWaiting: sql<boolean>`coalesce(${runs.notBefore} > ${at} and ${runs.createdAt} <= ${at}, false)`.as(
        "is_waiting",
      ),
    })
    .from(runs)
    .innerJoin(requests, eq(requests.id, runs.requestId))
    .where(inArray(runs.state, OPEN_STATES))
    .orderBy(runs.sessionId, ...PLAYING_ORDER)
    .as("next");
  const rows = await db
    .select({
      id: next.id,
      generation: next.generation,
      jobId: next.jobId,
      resends,
      isFromFuture: sql<boolean>`coalesce(${outbox.sentAt} > ${at}, false)`,
    })
    .from(next)
    .leftJoin(outbox, eq(outbox.id, next.jobId))
    .where(
      // Skips unsent jobs, because the sweep of the outbox sends them. A job without a row counts as lost: its row was
      // deleted, which happens a day after the job was sent.
      sql`${next.parkedAt} is null and not ${next.isWaiting} and not ${next.since} between ${at} - ${milliseconds(lostAfterMs)} and ${at}
        and (${outbox.id} is null or ${outbox.sentAt} > ${at} or ${outbox.sentAt} <
          ${at} - ${milliseconds(lostAfterMs)} * (2 ^ least(${resends}, ${DOUBLINGS_MAX}::int)))`,
    );
  const future = rows.filter(({ isFromFuture }) => isFromFuture);
  if (future.length > 0) {
    const ids = future.map((row) => String(row.jobId));
    await db.update(outbox).set({ sentAt: at }).where(inArray(outbox.id, ids));
  }
  const jobs: Job[] = [];
  for (const { id, generation, resends: before, isFromFuture } of rows) {
    if (isFromFuture) continue;
    const job = await enqueueNextGeneration(db, id, generation, before + 1);
    if (job) jobs.push(job);
  }
  return jobs;
}

export type JobValue =
  | "jobId"
  | "jobName"
  | "jobData"
  | "engineEvent"
  | "engineRunId"
  | "engineFunctionId"
  | "engineExecutorId";

/**
 * Returns common table expressions that insert a job into the outbox for each row of `from`, which has one row or none.
 * A planned job is also inserted into the engine's tables and marked as sent.
 */
export const storedJob = (value: (name: JobValue) => Placeholder, from: SQL): SQL => sql`sent as (
    insert into ${outbox} (id, name, data, sent_at)
    select ${value("jobId")}, ${value("jobName")}, ${value("jobData")}::jsonb,
      case when ${value("engineRunId")}::text is not null then now() end from ${from}
  ), taken as (
    insert into ${engineEvents} (id, name, body)
    select ${value("jobId")}, ${value("jobName")}, ${value("engineEvent")}::json from ${from}
    where ${value("engineRunId")}::text is not null returning id
  ), planned as (
    insert into ${engineRuns} (id, function_id, event_id, executor_id)
    select ${value("engineRunId")}::text, ${value("engineFunctionId")}::text, id, ${value("engineExecutorId")}::text from taken
  )`;

/** Returns the values for {@link storedJob}. */
export const describeJob = (job: Job, planned: PlannedJob | undefined): Record<JobValue, string | null> => ({
  jobId: job.id,
  jobName: job.name,
  jobData: JSON.stringify(job.data),
  engineEvent: planned?.event ?? null,
  engineRunId: planned?.runId ?? null,
  engineFunctionId: planned?.functionId ?? null,
  engineExecutorId: planned?.executorId ?? null,
});
