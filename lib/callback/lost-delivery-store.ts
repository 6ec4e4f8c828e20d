import { and, inArray, isNull, lt, notExists, sql } from "drizzle-orm";
import type { Database } from "#db/client.ts";
import { deliveries, outbox } from "#db/schema/index.ts";
import type { Job } from "#lib/session/jobs.ts";

/**
 * Writes new jobs, of a new generation, for open deliveries that were due before `before` and that no job waits in the
 * outbox for: the engine has lost them, or given them up.
 *
 * @param now from which the new jobs are due.
 */
export function requeueLostDeliveries(db: Database, before: Date, now: Date): Promise<Job[]> {
  const unsent = db
    .select({ id: outbox.id })
    .from(outbox)
    .where(and(isNull(outbox.sentAt), sql`${outbox.data} ->> 'deliveryId' = ${deliveries.id}`));
  return db.transaction(async (tx) => {
    const lost = await tx
      .update(deliveries)
      .set({ generation: sql`${deliveries.generation} + 1`, nextAttemptAt: now })
      .where(
        and(
          inArray(deliveries.state, ["pending", "sending"]),
          lt(sql`coalesce(${deliveries.nextAttemptAt}, ${deliveries.createdAt})`, before),
          notExists(unsent),
        ),
      )
      .returning({ id: deliveries.id, cycle: deliveries.cycle, generation: deliveries.generation });
    const jobs = lost.map(({ id, cycle, generation }) => ({
      name: "callback/delivery.requested" as const,
      id: `${id}:${cycle}:${generation}`,
      data: { deliveryId: id, cycle },
    }));
    if (jobs.length > 0) await tx.insert(outbox).values(jobs);
    return jobs;
  });
}
