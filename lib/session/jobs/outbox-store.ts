import { and, asc, eq, inArray, isNull, sql } from "drizzle-orm";
import type { Database, Executor, Transaction } from "#db/client.ts";
import { databaseTime, milliseconds } from "#db/database-time.ts";
import { outbox, runs } from "#db/schema/index.ts";
import { type Job, requestRun } from "./jobs.ts";

/** Writes jobs into the outbox of the transaction at hand; they are sent after its commit. */
export async function enqueueJobs(tx: Transaction, jobs: Job[]): Promise<void> {
  if (jobs.length > 0) await tx.insert(outbox).values(jobs);
}

/**
 * Unsent jobs of at least this age, oldest first. A job from the future was written before the clock was set back, and
 * is due at once.
 *
 * @param options.now a time that a test sets instead of the database's.
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
  // Only enqueueJobs writes these rows.
  return rows as Job[];
}

/** Notes that the engine has taken these jobs. */
export async function markJobsSent(db: Executor, ids: string[]): Promise<void> {
  await db.update(outbox).set({ sentAt: databaseTime() }).where(inArray(outbox.id, ids));
}

/** Forgets jobs sent longer ago than this: the engine has them. @returns how many. */
export async function pruneSentJobs(db: Database, ageMs: number, now?: Date): Promise<number> {
  const gone = await db
    .delete(outbox)
    .where(sql`${outbox.sentAt} < ${databaseTime(now)} - ${milliseconds(ageMs)}`)
    .returning({ id: outbox.id });
  return gone.length;
}

/**
 * Writes the next job of a run, unless a later one exists.
 *
 * @param generation of the job that this one follows.
 * @param resends how often the run was sent again since a player had it.
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
