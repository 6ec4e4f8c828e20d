import { and, asc, desc, eq, inArray, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Database, Executor, Transaction } from "#db/client.ts";
import { deliveries, deliveryAttempts, sealedSecrets, sessions } from "#db/schema/index.ts";
import { CALLBACK_SECRET } from "#lib/session/session-store.ts";

export type DeliveryRow = typeof deliveries.$inferSelect;
export type AttemptRow = typeof deliveryAttempts.$inferSelect;

/** A delivery with what is needed to make it, and the database's time when it was read. */
export type DeliveryToMake = {
  row: DeliveryRow;
  url: string | null;
  sealedSecret: string | null;
  readAtMs: number;
};

/** A delivery, its session's callback URL and sealed secret; undefined when the session is gone. */
export async function findDelivery(db: Executor, deliveryId: string): Promise<DeliveryToMake | undefined> {
  const [found] = await db
    .select({
      row: deliveries,
      url: sessions.callbackUrl,
      sealedSecret: sealedSecrets.sealed,
      readAtMs: sql<number>`(extract(epoch from now()) * 1000)::float8`.mapWith(Number),
    })
    .from(deliveries)
    .innerJoin(sessions, eq(sessions.id, deliveries.sessionId))
    .leftJoin(
      sealedSecrets,
      and(eq(sealedSecrets.sessionId, deliveries.sessionId), eq(sealedSecrets.name, CALLBACK_SECRET)),
    )
    .where(eq(deliveries.id, deliveryId));
  return found;
}

/** Whether the run's `run.started` has a delivery of which no attempt has finished yet. */
export async function isStartUnattempted(db: Executor, runId: string): Promise<boolean> {
  const rows = await db
    .select({ id: deliveries.id })
    .from(deliveries)
    .where(
      and(
        eq(deliveries.runId, runId),
        eq(deliveries.event, "run.started"),
        eq(deliveries.cycle, 1),
        eq(deliveries.attemptsFinished, 0),
        inArray(deliveries.state, ["pending", "sending"]),
      ),
    );
  return rows.length > 0;
}

/**
 * Moves a delivery from the state it was read in, if that still holds.
 *
 * @returns whether this call moved it.
 */
export async function moveDelivery(
  db: Executor,
  from: Pick<DeliveryRow, "id" | "cycle" | "attemptsFinished" | "state">,
  to: Pick<DeliveryRow, "state" | "attemptsFinished" | "nextAttemptAt">,
): Promise<boolean> {
  const { state, attemptsFinished, nextAttemptAt } = to;
  const moved = await db
    .update(deliveries)
    .set({ state, attemptsFinished, nextAttemptAt })
    .where(
      and(
        eq(deliveries.id, from.id),
        eq(deliveries.cycle, from.cycle),
        eq(deliveries.attemptsFinished, from.attemptsFinished),
        eq(deliveries.state, from.state),
      ),
    )
    .returning({ id: deliveries.id });
  return moved.length === 1;
}

/** A finished attempt of a delivery. */
export async function findAttempt(
  db: Executor,
  key: Pick<AttemptRow, "deliveryId" | "cycle" | "number">,
): Promise<AttemptRow | undefined> {
  const [row] = await db
    .select()
    .from(deliveryAttempts)
    .where(
      and(
        eq(deliveryAttempts.deliveryId, key.deliveryId),
        eq(deliveryAttempts.cycle, key.cycle),
        eq(deliveryAttempts.number, key.number),
      ),
    );
  return row;
}

/** Writes a finished attempt, beside the move it led to. */
export async function insertAttempt(tx: Transaction, attempt: AttemptRow): Promise<void> {
  await tx.insert(deliveryAttempts).values(attempt);
}

/** One delivery of a session with its finished attempts; another session's is as unknown as one that never was. */
export async function findDeliveryRow(
  db: Executor,
  sessionId: string,
  deliveryId: string,
): Promise<{ row: DeliveryRow; attempts: AttemptRow[] } | undefined> {
  const [row] = await db
    .select()
    .from(deliveries)
    .where(and(eq(deliveries.id, deliveryId), eq(deliveries.sessionId, sessionId)));
  return row && { row, attempts: await listAttempts(db, [row.id]) };
}

/**
 * Opens a delivery that is over for a new cycle of attempts, with the same bytes and id.
 *
 * @returns undefined where it is not in the state and cycle it was read in.
 */
export async function reopenDelivery(
  tx: Transaction,
  from: Pick<DeliveryRow, "id" | "cycle" | "state">,
  to: Pick<DeliveryRow, "state">,
  now: Date,
): Promise<DeliveryRow | undefined> {
  const [row] = await tx
    .update(deliveries)
    .set({ state: to.state, cycle: from.cycle + 1, attemptsFinished: 0, nextAttemptAt: now })
    .where(
      and(eq(deliveries.id, from.id), eq(deliveries.cycle, from.cycle), eq(deliveries.state, from.state)),
    )
    .returning();
  return row;
}

const listAttempts = (db: Executor, deliveryIds: string[]): Promise<AttemptRow[]> =>
  db
    .select()
    .from(deliveryAttempts)
    .where(inArray(deliveryAttempts.deliveryId, deliveryIds))
    .orderBy(asc(deliveryAttempts.cycle), asc(deliveryAttempts.number));

/**
 * Deliveries of a session, newest first, each with its finished attempts in order.
 *
 * @param page.cursor id of the row after which the page begins; an unknown one has nothing after it.
 */
export async function listDeliveryRows(
  db: Database,
  sessionId: string,
  page: { cursor?: string; limit: number },
): Promise<{ row: DeliveryRow; attempts: AttemptRow[] }[]> {
  const start = alias(deliveries, "start");
  const cursor = db
    .select({ createdAt: start.createdAt, id: start.id })
    .from(start)
    .where(and(eq(start.sessionId, sessionId), eq(start.id, page.cursor ?? "")));
  const rows = await db
    .select()
    .from(deliveries)
    .where(
      and(
        eq(deliveries.sessionId, sessionId),
        page.cursor === undefined ? undefined : sql`(${deliveries.createdAt}, ${deliveries.id}) < ${cursor}`,
      ),
    )
    .orderBy(desc(deliveries.createdAt), desc(deliveries.id))
    .limit(page.limit);
  if (rows.length === 0) return [];
  const attempts = await listAttempts(
    db,
    rows.map((row) => row.id),
  );
  const byDelivery = Map.groupBy(attempts, (attempt) => attempt.deliveryId);
  return rows.map((row) => ({ row, attempts: byDelivery.get(row.id) ?? [] }));
}
