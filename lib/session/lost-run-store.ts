import { and, eq, inArray, sql } from "drizzle-orm";
import type { Database } from "#db/client.ts";
import { outbox, requests, runs } from "#db/schema/index.ts";
import type { Job } from "./jobs.ts";
import { enqueueNextGeneration } from "./outbox-store.ts";
import { OPEN_STATES, playingOrder } from "./run-store.ts";

/** The outbox row of the job that plays a run. */
const jobId = sql`${runs.id} || ':' || ${runs.generation}`;

/**
 * Notes that runs are being played. The row of a job that was sent says when the job was last known to be in somebody's
 * hands: the engine's when it was sent, a player's from then on.
 */
export async function noteRunsPlayed(db: Database, runIds: string[], now: Date): Promise<void> {
  if (runIds.length === 0) return;
  const ids = db.select({ id: jobId }).from(runs).where(inArray(runs.id, runIds));
  await db
    .update(outbox)
    .set({ sentAt: now })
    .where(and(inArray(outbox.id, ids), sql`${outbox.sentAt} < ${now}`));
}

/**
 * Writes new jobs, of a new generation, for runs that are next in their sessions and that nobody has had in hand since
 * `before`: the engine has lost them.
 */
export async function requeueLostRuns(db: Database, before: Date): Promise<Job[]> {
  const next = db
    .selectDistinctOn([runs.sessionId], {
      id: runs.id,
      sessionId: runs.sessionId,
      generation: runs.generation,
      jobId: jobId.as("job_id"),
      since: sql<Date>`greatest(${runs.createdAt}, ${runs.notBefore})`.as("since"),
    })
    .from(runs)
    .innerJoin(requests, eq(requests.id, runs.requestId))
    .where(inArray(runs.state, OPEN_STATES))
    .orderBy(runs.sessionId, ...playingOrder)
    .as("next");
  const lost = await db
    .select({ id: next.id, generation: next.generation })
    .from(next)
    .leftJoin(outbox, eq(outbox.id, next.jobId))
    .where(
      // A job that was not sent yet is the outbox's own business; one that is forgotten was sent a day ago.
      sql`${next.since} < ${before} and (${outbox.id} is null or ${outbox.sentAt} < ${before})`,
    );
  const jobs: Job[] = [];
  for (const { id, generation } of lost) {
    const job = await enqueueNextGeneration(db, id, generation);
    if (job) jobs.push(job);
  }
  return jobs;
}
