import { and, asc, eq, isNull, lt } from "drizzle-orm";
import type { Database, Executor, Transaction } from "#db/client.ts";
import { outbox } from "#db/schema/index.ts";
import type { Job } from "./jobs.ts";

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

export async function markJobSent(db: Executor, id: string): Promise<void> {
  await db.update(outbox).set({ sentAt: new Date() }).where(eq(outbox.id, id));
}

/** Forgets jobs sent before `before`: the engine has them. @returns how many. */
export async function pruneSentJobs(db: Database, before: Date): Promise<number> {
  const gone = await db.delete(outbox).where(lt(outbox.sentAt, before)).returning({ id: outbox.id });
  return gone.length;
}
