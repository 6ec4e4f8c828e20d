import { sql } from "drizzle-orm";
import type { Database } from "#db/client.ts";
import { queryRows } from "#db/statement.ts";

/**
 * Removes up to `limit` delivered or dropped deliveries that were created before the given time, and their attempts.
 *
 * @returns the number of removed deliveries.
 */
export async function removeOldDeliveries(db: Database, before: Date, limit: number): Promise<number> {
  const removed = await queryRows<{ id: string }>(
    db,
    sql`delete from deliveries where state in ('delivered', 'dropped') and id in (
        select id from deliveries
        where state in ('delivered', 'dropped') and created_at < ${before.toISOString()}::timestamptz
        order by created_at, id limit ${limit})
      returning id`,
  );
  return removed.length;
}
