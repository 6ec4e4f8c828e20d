import { and, inArray, isNull, notExists, sql } from "drizzle-orm";
import type { Database } from "#db/client.ts";
import { databaseTime, milliseconds } from "#db/database-time.ts";
import { deliveries, deliveryAttempts, outbox } from "#db/schema/index.ts";
import { type Job, requestDelivery } from "#lib/session/store/jobs.ts";

/**
 * An open delivery (state `pending` or `sending`) that is overdue by more than this is treated as lost. Neither an
 * attempt nor the wait of `run.completed` for `run.started` takes that long.
 */
const LOST_AFTER_MS = 15 * 60_000;

/**
 * Creates new jobs for open deliveries that are a quarter of an hour overdue, because the engine has lost or given up
 * their jobs. If an old job still runs, the old and the new job may send the same attempt. The attempt is recorded only
 * once, and receivers recognize the repeated id.
 * Source: specification, Delivery semantics, rules 1 and 2.
 *
 * @param now the current time, which tests set. Default: the database's time.
 * @returns the new jobs, which are stored in the outbox.
 */
export const resendLostDeliveries = (db: Database, now?: Date): Promise<Job[]> =>
  requeueLostDeliveries(db, LOST_AFTER_MS, now);

/** The greatest expected difference between two clocks of one deployment. */
const CLOCKS_DIFFER_MS = 60_000;

/**
 * Writes new jobs for open deliveries that have been due for `lostAfterMs` and have no unsent job in the outbox. A
 * higher generation gives each job a new id. If the clock was set back, deliveries with a due time in the future become
 * due now.
 *
 * @param time the current time, which tests set. Default: the database's time.
 */
function requeueLostDeliveries(db: Database, lostAfterMs: number, time?: Date): Promise<Job[]> {
  const now = databaseTime(time);
  const future = sql`${now} + ${milliseconds(CLOCKS_DIFFER_MS)}`;
  const open = inArray(deliveries.state, ["pending", "sending"]);
  // A delivery that is `sending`, or has no finished attempt, was due at once when it was written. If its due time is
  // in the future, the clock was set back after that. An attempt with a date in the future also shows that the clock
  // was set back.
  const wasSetBack = sql`(${deliveries.state} = 'sending' or ${deliveries.attemptsFinished} = 0 or exists (
    select 1 from ${deliveryAttempts} as attempt
    where attempt.delivery_id = ${deliveries.id} and attempt.cycle = ${deliveries.cycle} and attempt.at > ${future}))`;
  const unsent = db
    .select({ id: outbox.id })
    .from(outbox)
    .where(and(isNull(outbox.sentAt), sql`${outbox.data} ->> 'deliveryId' = ${deliveries.id}`));
  return db.transaction(async (tx) => {
    await tx
      .update(deliveries)
      .set({ nextAttemptAt: now })
      .where(and(open, sql`${deliveries.nextAttemptAt} > ${future}`, wasSetBack));
    // Skips what the deletion of a session has locked (`architecture.md`, Locks).
    const overdue = await tx
      .select({ id: deliveries.id })
      .from(deliveries)
      .where(
        and(
          open,
          sql`coalesce(${deliveries.nextAttemptAt}, ${deliveries.createdAt}) < ${now} - ${milliseconds(lostAfterMs)}`,
          notExists(unsent),
        ),
      )
      .for("update", { skipLocked: true });
    if (overdue.length === 0) return [];
    const lost = await tx
      .update(deliveries)
      .set({ generation: sql`${deliveries.generation} + 1`, nextAttemptAt: now })
      .where(
        inArray(
          deliveries.id,
          overdue.map(({ id }) => id),
        ),
      )
      .returning({ id: deliveries.id, cycle: deliveries.cycle, generation: deliveries.generation });
    const jobs = lost.map(requestDelivery);
    await tx.insert(outbox).values(jobs);
    return jobs;
  });
}
