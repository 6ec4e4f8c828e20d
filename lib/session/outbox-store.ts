import { and, asc, eq, inArray, isNull, lt } from "drizzle-orm";
import type { Database, Executor, Transaction } from "#db/client.ts";
import { outbox, runs } from "#db/schema/index.ts";
import { type Job, requestRun } from "./jobs.ts";

/** Writes jobs into the outbox of the transaction at hand; they are sent after its commit. */
export async function enqueueJobs(tx: Transaction, jobs: Job[]): Promise<void> {
  if (jobs.length > 0) await tx.insert(outbox).values(jobs);
}

/** Jobs written before `before` that nobody has sent, oldest first. */
export async function listUnsentJobs(db: Executor, before: Date, limit: number): Promise<Job[]> {
  const rows = await db
    .select({ id: outbox.id, name: outbox.name, data: outbox.data })
    .from(outbox)
    .where(and(isNull(outbox.sentAt), lt(outbox.createdAt, before)))
    .orderBy(asc(outbox.createdAt))
    .limit(limit);
  // Only enqueueJobs writes these rows.
  return rows as Job[];
}

/** Notes that the engine has taken these jobs. */
export async function markJobsSent(db: Executor, ids: string[]): Promise<void> {
  await db.update(outbox).set({ sentAt: new Date() }).where(inArray(outbox.id, ids));
}

/** Forgets jobs sent before `before`: the engine has them. @returns how many. */
export async function pruneSentJobs(db: Database, before: Date): Promise<number> {
  const gone = await db.delete(outbox).where(lt(outbox.sentAt, before)).returning({ id: outbox.id });
  return gone.length;
}

/**
 * Writes the next job of a run, unless somebody has done so since the given one.
 *
 * @param generation of the job that this one follows.
 */
export async function enqueueNextGeneration(
  db: Database,
  runId: string,
  generation: number,
): Promise<Job | undefined> {
  return db.transaction(async (tx) => {
    const [run] = await tx
      .update(runs)
      .set({ generation: generation + 1 })
      .where(and(eq(runs.id, runId), eq(runs.generation, generation)))
      .returning({ id: runs.id, sessionId: runs.sessionId, generation: runs.generation });
    if (!run) return undefined;
    const job = requestRun(run);
    await enqueueJobs(tx, [job]);
    return job;
  });
}
