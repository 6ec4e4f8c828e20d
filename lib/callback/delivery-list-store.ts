import { and, asc, desc, eq, inArray, or, type SQL, sql } from "drizzle-orm";
import { type AnyPgColumn, alias } from "drizzle-orm/pg-core";
import type { Database, Executor } from "#db/client.ts";
import { agents, deliveries, deliveryAttempts } from "#db/schema/index.ts";
import type { AttemptRow, DeliveryRow } from "./delivery-store.ts";

/** The deliveries to the callback of a session: also those that report a wait of its sub-agents. */
const ofCallback = (waiting: AnyPgColumn, sessionId: string): SQL | undefined =>
  or(
    eq(waiting, sessionId),
    sql`${waiting} in (select ${agents.sessionId} from ${agents} where ${agents.rootSessionId} = ${sessionId})`,
  );

/** Finds a delivery of a session and its finished attempts; undefined if the session has no such delivery. */
export async function findDeliveryRow(
  db: Executor,
  sessionId: string,
  deliveryId: string,
): Promise<{ row: DeliveryRow; attempts: AttemptRow[] } | undefined> {
  const [row] = await db
    .select()
    .from(deliveries)
    .where(and(eq(deliveries.id, deliveryId), ofCallback(deliveries.sessionId, sessionId)));
  return row && { row, attempts: await listAttempts(db, [row.id]) };
}

const listAttempts = (db: Executor, deliveryIds: string[]): Promise<AttemptRow[]> =>
  db
    .select()
    .from(deliveryAttempts)
    .where(inArray(deliveryAttempts.deliveryId, deliveryIds))
    .orderBy(asc(deliveryAttempts.cycle), asc(deliveryAttempts.number));

/**
 * Lists the deliveries of a session, newest first, each with its finished attempts in order.
 *
 * @param page.cursor id of the row after which the page begins; an unknown id gives an empty page.
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
    .where(and(ofCallback(start.sessionId, sessionId), eq(start.id, page.cursor ?? "")));
  const rows = await db
    .select()
    .from(deliveries)
    .where(
      and(
        ofCallback(deliveries.sessionId, sessionId),
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
